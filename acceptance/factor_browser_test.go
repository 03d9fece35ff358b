package acceptance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/pquerna/otp/totp"

	"outrigger/internal/loadtest"
)

// freePort is a port of this machine that nothing listens at.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := loadtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// withAuthenticator adds to the browser a device that keeps passkeys and knows its
// owner.
func withAuthenticator(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
	if err := target.Call(ctx, "WebAuthn.enable", map[string]any{}, &struct{}{}); err != nil {
		return none, err
	}
	return none, target.Call(ctx, "WebAuthn.addVirtualAuthenticator", map[string]any{"options": map[string]any{
		"protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
		"isUserVerified": true, "automaticPresenceSimulation": true,
	}}, &struct{}{})
}

// fits fails where something does not fit on the page.
func fits(t *testing.T, page string) step {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		found, err := chromedp.Evaluate[string](misfits)(ctx, target)
		if found != "" {
			t.Errorf("%s: %s", page, found)
		}
		return none, err
	}
}

// signOut ends the session, by the button in the menu. What is in a closed menu
// has a size too, so that it must be said to wait for an open one.
func signOut() []step {
	return []step{
		settled,
		chromedp.Click(`.who summary`),
		visible(`.who[open] form button`),
		chromedp.Click(`.who[open] form button`),
		visible(`input[name=password]`),
	}
}

// TestSecondFactorInABrowser sets up an authenticator app and a passkey, and signs
// in with each.
func TestSecondFactorInABrowser(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			see := func(name string) step {
				return chromedp.Steps(fits(t, name), look(t, fmt.Sprintf("factor-%s-%d", name, width)))
			}
			port := freePort(t)
			d := startFreshAt(t, fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("http://localhost:%d", port))
			ctx := browser(t, width)
			var secret string
			do(t, ctx, "open the page of the app", append(d.signIn(),
				withAuthenticator,
				chromedp.Navigate(d.console+"/account/second-factor"),
				visible(`//a[text()="Set up an app"]`),
				see("none"),
				chromedp.Click(`//a[text()="Set up an app"]`),
				visible(`#f-code`),
				read(`.copy code`, &secret),
				see("app"),
			)...)
			secret = strings.ReplaceAll(secret, " ", "")
			// What the app shows now, or a number of half minutes later; the server takes
			// it for half a minute longer, and no code twice.
			code := func(steps int) string {
				shown, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
				if err != nil {
					t.Fatal(err)
				}
				return shown
			}
			do(t, ctx, "set up the app",
				chromedp.SendKeys(`#f-code`, code(0)),
				chromedp.Submit(`#f-code`),
				visible(`.codes`),
				see("recovery"),
			)
			do(t, ctx, "sign in with the app", append(signOut(),
				see("sign-in"),
				chromedp.SendKeys(`input[name=user]`, "admin"),
				chromedp.SendKeys(`input[name=password]`, d.password),
				chromedp.Submit(`input[name=password]`),
				visible(`#f-code`),
				see("second-step"),
				chromedp.SendKeys(`#f-code`, "000000"),
				chromedp.Submit(`#f-code`),
				visible(`.problem`),
				see("wrong-code"),
				chromedp.SendKeys(`#f-code`, code(1)),
				chromedp.Submit(`#f-code`),
				visible(`.cards`),
			)...)
			do(t, ctx, "register a passkey",
				chromedp.Navigate(d.console+"/account/second-factor"),
				chromedp.Click(`//a[text()="Register a passkey"]`),
				visible(`#f-name`),
				see("passkey"),
				chromedp.SendKeys(`#f-name`, "test device"),
				chromedp.Click(`[data-passkey-run]`),
				visible(`.flash.good`),
				visible(`//th[text()="test device"]`),
				see("both"),
			)
			do(t, ctx, "sign in with the passkey alone", append(signOut(),
				chromedp.Click(`//a[text()="Sign in with a passkey"]`),
				visible(`[data-passkey-run]`),
				see("sign-in-passkey"),
				chromedp.Click(`[data-passkey-run]`),
				visible(`.cards`),
			)...)
			do(t, ctx, "use the passkey as the second factor", append(signOut(),
				chromedp.SendKeys(`input[name=user]`, "admin"),
				chromedp.SendKeys(`input[name=password]`, d.password),
				chromedp.Submit(`input[name=password]`),
				visible(`[data-passkey-run]`),
				see("second-step-both"),
				chromedp.Click(`[data-passkey-run]`),
				visible(`.cards`),
				chromedp.Navigate(d.console+"/confirm?to=%2Faccount%2Ftokens"),
				visible(`#f-confirm-password`),
				see("confirm"),
				chromedp.Click(`[data-passkey-run]`),
				visible(`//h1[text()="Tokens"]`),
				chromedp.Navigate(d.console+"/system/users/named/admin"),
				visible(`dl.facts`),
				see("user"),
			)...)
		})
	}
}
