package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestCloudByClicking authorises an account of the cloud platform, makes a rule
// with it, receives a failed pipeline, and sees the rule ask for the
// authorisation after it was withdrawn, until it is given again.
func TestCloudByClicking(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			picture := func(name string) step { return look(t, fmt.Sprintf("%s-%d", name, width)) }
			d := startDemo(t)
			ctx := browser(t, width)
			const (
				accounts = "/notifications/cloud/accounts"
				rules    = "/notifications/cloud/rules?connection=cloud&workspace=atlas&repository=engine"
				own      = `//tr[.//a[text()="Failures of the engine"]]`
			)
			platform, channel := d.chat+"/bitbucket/", d.chat+"/workflows/failures/triggers/manual/paths/invoke?api-version=2016-06-01&sig=playground-failures"
			grant := func(name string) []step {
				return []step{
					chromedp.Click(`//main//button[contains(text(), "Authorise")]`),
					visible(`a.button.main`),
					picture(name + "-leave"),
					chromedp.Click(`a.button.main`),
					visible(`button[value=grant]`),
					picture(name + "-consent"),
					chromedp.Click(`button[value=grant]`),
					visible(`.flash.good`),
					picture(name + "-given"),
				}
			}
			var card, report, refused, list, account, again string
			do(t, ctx, "sign in", d.signIn()...)
			do(t, ctx, "authorise", append([]step{chromedp.Navigate(d.console + accounts)}, grant("cloud-authorise")...)...)
			do(t, ctx, "make a rule",
				chromedp.Navigate(d.console+strings.Replace(rules, "rules?", "rules/new?", 1)),
				visible(`#f-name`),
				chromedp.SendKeys(`#f-name`, "Failures of the engine"),
				chromedp.Click(`input[value=PIPELINE_FAILED]`),
				chromedp.Click(`#where > summary`),
				visible(`#f-destinationBranchFilter`),
				chromedp.SendKeys(`#f-destinationBranchFilter`, "^main$|release"),
				chromedp.SendKeys(`#f-webhookUrl`, channel),
				chromedp.SendKeys(`#f-channelName`, "failures"),
				picture("cloud-rule-form"),
				chromedp.Submit(`#f-name`),
				visible(own),
				picture("cloud-rules"),
			)
			do(t, ctx, "receive a failed pipeline",
				chromedp.Navigate(platform),
				visible(`select[name=event]`),
				picture("cloud-platform"),
				chromedp.Click(`//button[text()="Send"]`),
				visible(`[role=status]`),
				picture("cloud-platform-sent"),
				chromedp.Navigate(d.chat),
				visible(`//section[contains(., "failures")]//article[contains(., "Pipeline")]`),
				read(`//section[contains(., "failures")]//article[contains(., "Pipeline")]`, &card),
				picture("cloud-card"),
			)
			if !strings.Contains(card, "failed") {
				t.Errorf("the card is %q", card)
			}
			do(t, ctx, "withdraw the authorisation, and see the rule ask for it",
				chromedp.Navigate(platform),
				chromedp.Click(`//button[text()="Withdraw"]`),
				visible(`[role=status]`),
				picture("cloud-platform-withdrawn"),
				chromedp.Navigate(d.console+"/notifications/reports/new"),
				visible(`#f-name`),
				chromedp.SendKeys(`#f-name`, "Reviews of the engine"),
				chromedp.SendKeys(`#f-connection`, "cloud"),
				chromedp.SendKeys(`#f-repository`, "atlas/engine"),
				chromedp.SendKeys(`#f-webhookUrl`, channel),
				chromedp.Click(`button[value=test]`), // which asks the platform with the account
				visible(`.problem`),
				read(`.problem`, &report),
				picture("cloud-report-refused"),
				chromedp.Navigate(d.console+rules),
				chromedp.Click(own+`//a[text()="Failures of the engine"]`),
				visible(`#f-name`),
				chromedp.SendKeys(`#f-name`, " of all"),
				picture("cloud-rule-changed"),
				chromedp.Submit(`#f-name`),
				visible(`//*[text()="The rule is not saved"]`),
				read(`main`, &refused),
				picture("cloud-rule-refused"),
				chromedp.Navigate(d.console+rules),
				visible(own),
				read(own, &list),
				picture("cloud-rules-withdrawn"),
				chromedp.Navigate(d.console+accounts),
				visible(`tbody tr`),
				read(`tbody tr`, &account),
			)
			if !strings.Contains(report, "uthorise") || !strings.Contains(refused, "Authorise an account") || !strings.Contains(list, "uthorisation required") || !strings.Contains(account, "withdrawn") {
				t.Errorf("the report: %q\nrefused: %q\nthe rule: %q\nthe account: %q", report, refused, list, account)
			}
			do(t, ctx, "give it again", grant("cloud-again")...)
			do(t, ctx, "see the rule go on",
				chromedp.Navigate(d.console+rules),
				visible(own),
				read(own, &again),
				picture("cloud-rules-again"),
			)
			if strings.Contains(again, "uthorisation required") {
				t.Errorf("given again, the rule still asks: %q", again)
			}
		})
	}
}
