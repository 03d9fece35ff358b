package acceptance

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"outrigger/internal/playground/openid"
)

// TestGroupsInABrowser grants a permission to a group of a user who has signed in,
// and takes it back; group names of any length and script fit the pages.
func TestGroupsInABrowser(t *testing.T) {
	t.Parallel()
	console := freeAddress(t)
	long := "cn=" + strings.Repeat("entwickler-und-betreiber,", 9) + "dc=例え"
	provider := openid.New(openid.Options{
		Accounts: []openid.Account{{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann", "roles": []string{"shop developers", long, "مطورون", "staff"}}}},
		Client:   openid.Client{ID: "outrigger", Secret: "client secret", Callback: "http://" + console + "/sign-in/oidc/callback"},
	})
	server := httptest.NewServer(provider.Handler())
	t.Cleanup(server.Close)
	d := startFreshAt(t, console, "http://"+console,
		"OUTRIGGER_IDENTITY_OIDC_ISSUER="+strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "OUTRIGGER_IDENTITY_OIDC_CLIENT_ID=outrigger",
		"OUTRIGGER_IDENTITY_OIDC_CLIENT_SECRET=client secret", "OUTRIGGER_IDENTITY_OIDC_NAME=Example ID",
		"OUTRIGGER_IDENTITY_OIDC_GROUPS_CLAIM=roles", "OUTRIGGER_IDENTITY_OIDC_ADMIN_GROUPS=outrigger-admins",
	)
	do(t, browser(t, 1280), "sign in with the provider",
		chromedp.Navigate(d.console+"/sign-in/oidc?to=/notifications/rules"),
		visible(`select[name=account]`),
		chromedp.Click(`button[value=yes]`),
		visible(`.who summary`),
	)
	for _, width := range []int{1280, 390} {
		ctx := browser(t, width)
		name := func(page string) string { return fmt.Sprintf("groups-%s-%d", page, width) }
		signInAt(t, ctx, d, "/system/groups", `//a[text()="Grant a permission"]`)
		var granted, text string
		do(t, ctx, "grant a permission",
			fits(t, name("list")), look(t, name("list")),
			chromedp.Click(`//a[normalize-space()="shop developers"]`),
			visible(`//a[text()="oidc:ann"]`),
			fits(t, name("group")),
			chromedp.Click(`//a[text()="Grant a permission"]`),
			visible(`input[name=group]`),
			chromedp.Click(`input[value=ADMIN]`),
			fits(t, name("grant")), look(t, name("grant")),
			chromedp.Submit(`input[name=group]`),
			visible(`td.actions a`),
			read(`main`, &granted),
			fits(t, name("granted")), look(t, name("granted")),
		)
		has(t, "the group's page", granted, "Administers all rules, reports and settings.", "Known members: 1 user", "oidc:ann")
		do(t, ctx, "revoke it",
			chromedp.Click(`td.actions a`),
			visible(`//button[text()="Revoke the permission"]`),
			look(t, name("revoke")),
			chromedp.Click(`//button[text()="Revoke the permission"]`),
			visible(`//a[normalize-space()="shop developers"]`),
			read(`main`, &text),
		)
		has(t, "the list", text, "was revoked")
	}
}
