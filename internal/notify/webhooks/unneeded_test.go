package webhooks

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
)

// deleteRules deletes the rules of shop.
func (w *cloudWorld) deleteRules() {
	w.t.Helper()
	list, err := w.store.ListRules(w.t.Context(), notify.RuleQuery{Connection: "cloud", ProjectKey: "acme", RepositoryKey: "shop"})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range list {
		if err := w.store.DeleteRule(w.t.Context(), notify.Actor{Name: "ada"}, r.ID, 0); err != nil {
			w.t.Fatal(err)
		}
	}
}

// The webhook that was created for a repository goes with its last rule, unless
// a report there needs it to follow renames.
func TestARepositorysWebhookGoesWithTheLastRule(t *testing.T) {
	eachCloudWorld(t, true, func(t *testing.T, w *cloudWorld) {
		report, err := w.store.SaveReport(t.Context(), notify.Actor{Name: "ada"}, notify.Report{
			Name: "stale", Connection: "cloud", ProjectKey: "acme", RepositoryKey: "Shop", Format: notify.Auto, Enabled: true,
			ReportContent:  notify.ReportContent{InactivityDays: 7},
			ReportSchedule: notify.ReportSchedule{Frequency: notify.Daily, Time: "09:00", TimeZone: "UTC"},
		}, "https://hooks.slack.com/services/T0/B0/x", w.now)
		if err != nil {
			t.Fatal(err)
		}
		w.rule(shop)
		w.rule(shop)
		w.round(0)
		w.one(shop)
		w.deleteRules()
		if n := w.round(checkEvery); n != 0 {
			t.Errorf("looked at %d beside a report", n)
		}
		w.one(shop)
		if err := w.store.DeleteReport(t.Context(), notify.Actor{Name: "ada"}, report.ID, 0); err != nil {
			t.Fatal(err)
		}
		if n := w.round(time.Minute); n != 1 || len(w.Webhooks("acme", "shop")) != 0 || w.state(shop).State != notify.WebhookUnchecked {
			t.Errorf("looked at %d, left are %+v, %+v", n, w.Webhooks("acme", "shop"), w.state(shop))
		}
		if n := w.round(checkEvery); n != 0 {
			t.Errorf("looked at %d without a rule", n)
		}
		w.rule(shop)
		w.round(0)
		w.one(shop)
	})
}

// What cannot be deleted is shown, and tried again; a rule that is created in the
// meantime keeps it.
func TestARepositorysWebhookCannotBeDeleted(t *testing.T) {
	eachCloudWorld(t, true, func(t *testing.T, w *cloudWorld) {
		w.rule(shop)
		w.round(0)
		first := w.one(shop)
		w.deleteRules()
		w.SetFault("/hooks", playgroundtest.Fault{Kind: playgroundtest.Broken})
		w.round(time.Minute)
		if is := w.state(shop); is.State != notify.WebhookUnneeded || !strings.Contains(is.Reason, "500") {
			t.Errorf("%+v", is)
		}
		if n := w.round(troubledEvery - time.Second); n != 0 {
			t.Errorf("tried %d again at once", n)
		}
		w.SetFault("/hooks", playgroundtest.Fault{})
		w.rule(shop)
		w.round(0)
		if again := w.one(shop); again.UUID != first.UUID || w.state(shop).State != notify.WebhookSends {
			t.Errorf("%+v, %+v", again, w.state(shop))
		}
		w.deleteRules()
		w.SetFault("/hooks", playgroundtest.Fault{Kind: playgroundtest.Broken})
		w.round(time.Minute)
		w.SetFault("/hooks", playgroundtest.Fault{})
		w.round(troubledEvery)
		if there := w.Webhooks("acme", "shop"); len(there) != 0 || w.state(shop).State != notify.WebhookUnchecked {
			t.Errorf("%+v, %+v", there, w.state(shop))
		}

		w.rule(shop)
		w.round(0)
		w.deleteRules()
		if err := w.store.RevokeAuthorization(t.Context(), notify.Actor{Name: "ada"}, 1); err != nil {
			t.Fatal(err)
		}
		w.round(time.Minute)
		if is := w.state(shop); is.State != notify.WebhookUnneeded || !strings.Contains(is.Reason, "authorised") {
			t.Errorf("%+v", is)
		}
		if left, err := w.store.CreatedWebhooks(t.Context(), "cloud"); err != nil || len(left) != 1 || left[0] != "acme/shop" {
			t.Errorf("%v, %v", left, err)
		}
	})
}

// What people made, or have call something else, is left alone.
func TestAWebhookOfPeopleStaysWithoutRules(t *testing.T) {
	eachCloudWorld(t, true, func(t *testing.T, w *cloudWorld) {
		w.rule(shop)
		w.round(0)
		theirs := w.one(shop)
		theirs.URL = "https://ci.example.com/events"
		w.SetWebhook(theirs)
		w.deleteRules()
		w.round(time.Minute)
		if there := w.Webhooks("acme", "shop"); len(there) != 1 || w.state(shop).State != notify.WebhookUnchecked {
			t.Errorf("%+v, %+v", there, w.state(shop))
		}
		w.DeleteWebhooks("acme", "shop")
		h, err := w.store.CreateHook(t.Context(), notify.Actor{Name: "ada"}, notify.Hook{Connection: "cloud", Name: "mine", Scope: notify.Scope{ProjectKey: "acme", RepositoryKey: "shop"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.SetWebhook(bitbucketcloud.Webhook{Workspace: "acme", Slug: "shop", URL: base + "/hooks/cloud/mine", Secret: h.Secret.Reveal(), Active: true})
		w.rule(shop)
		w.round(0)
		w.deleteRules()
		if n := w.round(checkEvery); n != 0 || len(w.Webhooks("acme", "shop")) != 1 {
			t.Errorf("looked at %d, left are %+v", n, w.Webhooks("acme", "shop"))
		}
	})
}
