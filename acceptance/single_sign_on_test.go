package acceptance

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"outrigger/internal/playground/openid"
)

// TestSingleSignOnInABrowser signs in with a provider on another site: the browser
// shows its cookie when it comes back from there, and the pages' policies let it go.
func TestSingleSignOnInABrowser(t *testing.T) {
	t.Parallel()
	console := freeAddress(t)
	provider := openid.New(openid.Options{
		Accounts: []openid.Account{{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann", "roles": []string{"admins"}}}},
		Client:   openid.Client{ID: "outrigger", Secret: "client secret", Callback: "http://" + console + "/sign-in/oidc/callback"},
	})
	server := httptest.NewServer(provider.Handler())
	t.Cleanup(server.Close)
	issuer := strings.Replace(server.URL, "127.0.0.1", "localhost", 1) // another site than the console
	d := startFreshAt(t, console, "http://"+console,
		"OUTRIGGER_IDENTITY_OIDC_ISSUER="+issuer, "OUTRIGGER_IDENTITY_OIDC_CLIENT_ID=outrigger", "OUTRIGGER_IDENTITY_OIDC_CLIENT_SECRET=client secret",
		"OUTRIGGER_IDENTITY_OIDC_NAME=Example ID", "OUTRIGGER_IDENTITY_OIDC_GROUPS_CLAIM=roles", "OUTRIGGER_IDENTITY_OIDC_ADMIN_GROUPS=admins",
	)
	ctx := browser(t, 390)
	var who, problem string
	do(t, ctx, "sign in with the provider",
		chromedp.Navigate(d.console+"/notifications/rules"),
		visible(`//a[text()="Sign in with Example ID"]`),
		fits(t, "sign-in"), look(t, "sign-in-ways"),
		chromedp.Click(`//a[text()="Sign in with Example ID"]`),
		visible(`select[name=account]`),
		chromedp.Click(`button[value=yes]`),
		visible(`.who summary`),
		read(`h1`, &who),
	)
	if who != "Global rules" && who != "Rules" {
		t.Errorf("the browser is led to the page %q", who)
	}
	do(t, ctx, "cancel", append(signOut(),
		chromedp.Click(`//a[text()="Sign in with Example ID"]`),
		visible(`select[name=account]`),
		chromedp.Click(`button[value=no]`),
		visible(`.problem`),
		read(`.problem`, &problem),
		fits(t, "refused"), look(t, "sign-in-refused"),
	)...)
	if !strings.Contains(problem, "The sign-in with Example ID was cancelled.") {
		t.Errorf("the page says %q", problem)
	}
}
