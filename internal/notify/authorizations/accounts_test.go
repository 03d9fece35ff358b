package authorizations

import (
	"errors"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
)

var shop, site = notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "shop"}, notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "site"}

// A user's own accounts are asked for, one after the other; the platform's yes
// holds for a minute.
func TestAdministering(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		if _, err := n.Administering(n.as(1), "cloud", shop); !fault.Is(err, fault.Forbidden) || !errors.Is(err, notify.ErrNoAccount) {
			t.Errorf("without an account: %v", err)
		}
		a := n.authorize(1, ana)
		if id, err := n.Administering(n.as(1), "cloud", shop); err != nil || id != a.ID {
			t.Errorf("%d, %v", id, err)
		}
		if _, err := n.Administering(n.as(2), "cloud", shop); !fault.Is(err, fault.Forbidden) {
			t.Errorf("another user: %v", err)
		}
		if _, err := n.Administering(n.as(1), "bare", shop); !fault.Is(err, fault.Forbidden) {
			t.Errorf("another connection: %v", err)
		}
		if _, err := n.Administering(n.as(1), "cloud", site); !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "Ana does not administer acme/site") {
			t.Errorf("another repository: %v", err)
		}
		n.pass(time.Second)
		b := n.authorize(1, ben)
		for at, want := range map[notify.RepositoryRef]int64{shop: a.ID, site: b.ID} {
			if id, err := n.Administering(n.as(1), "cloud", at); err != nil || id != want {
				t.Errorf("%v: %d, %v", at, id, err)
			}
		}
		n.Change(func(o *bitbucketcloud.Options) { o.Repository("acme", "site").Permissions[ben] = "read" })
		if id, err := n.Administering(n.as(1), "cloud", site); err != nil || id != b.ID {
			t.Errorf("within a minute: %d, %v", id, err)
		}
		n.pass(time.Minute)
		if _, err := n.Administering(n.as(1), "cloud", site); !fault.Is(err, fault.Forbidden) {
			t.Errorf("after a minute: %v", err)
		}
		n.Change(func(o *bitbucketcloud.Options) { o.Repository("acme", "site").Permissions[ben] = "admin" })
		if id, err := n.Administering(n.as(1), "cloud", site); err != nil || id != b.ID {
			t.Errorf("a no is not remembered: %d, %v", id, err)
		}
		if err := n.api.Revoke(n.as(1), b.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Administering(n.as(1), "cloud", site); !fault.Is(err, fault.Forbidden) {
			t.Errorf("revoked: %v", err)
		}
		n.pass(time.Minute)
		n.SetFault("/2.0/", playgroundtest.Fault{Kind: playgroundtest.Broken})
		if _, err := n.Administering(n.as(1), "cloud", shop); !fault.Is(err, fault.Unavailable) {
			t.Errorf("the platform is away: %v", err)
		}
		n.SetFault("/2.0/", playgroundtest.Fault{})
		n.Withdraw(ana)
		for _, when := range []string{"found out now", "known"} {
			if _, err := n.Administering(n.as(1), "cloud", shop); !fault.Is(err, fault.Forbidden) || strings.Count(err.Error(), "uthorise ") != 1 {
				t.Errorf("withdrawn on the platform, %s: %v", when, err)
			}
		}
	})
}

// A user has the platform asked thirty times a minute; what it said yes to a
// moment ago is not asked.
func TestAdministeringIsLimited(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		a := n.authorize(1, ana)
		for range askedAMinute - 1 {
			if _, err := n.Administering(n.as(1), "cloud", site); !fault.Is(err, fault.Forbidden) {
				t.Fatal(err)
			}
		}
		for range 2 {
			if id, err := n.Administering(n.as(1), "cloud", shop); err != nil || id != a.ID {
				t.Error(err)
			}
		}
		if _, err := n.Administering(n.as(1), "cloud", site); !fault.Is(err, fault.RateLimited) || fault.As(err).RetryAfter != 2*time.Second {
			t.Errorf("%v", err)
		}
		n.authorize(2, ben)
		if _, err := n.Administering(n.as(2), "cloud", site); err != nil {
			t.Errorf("another user: %v", err)
		}
		n.pass(2 * time.Second)
		if _, err := n.Administering(n.as(1), "cloud", site); !fault.Is(err, fault.Forbidden) {
			t.Errorf("later: %v", err)
		}
	})
}

// The open pull requests are asked for with an account of the user whom it is
// done for, or one that rules there belong to.
func TestOpenPullRequests(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		c := n.store.Platforms().Connections.Find("cloud")
		if _, err := n.OpenPullRequests(t.Context(), c, shop); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "Authorise") {
			t.Errorf("no account: %v", err)
		}
		n.authorize(1, ana)
		b := n.authorize(2, ben)
		if _, err := n.OpenPullRequests(t.Context(), c, shop); !fault.Is(err, fault.Unavailable) {
			t.Errorf("accounts of others: %v", err)
		}
		if _, err := n.OpenPullRequests(n.as(1), c, shop); err != nil {
			t.Errorf("the user who asks: %v", err)
		}
		if _, err := n.OpenPullRequests(notify.OnBehalf(t.Context(), 2), c, shop); err != nil {
			t.Errorf("in the background: %v", err)
		}
		rule := notify.Rule{
			Name: "merges", Connection: "cloud", ProjectKey: "acme", RepositoryKey: "site", Format: notify.Auto, Enabled: true, AuthorizationID: b.ID,
			Filter: notify.Filter{EventTypes: []notify.EventType{notify.PullRequestMerged}},
		}
		if _, err := n.store.SaveRule(t.Context(), notify.Actor{Name: "ada"}, rule, "https://hooks.slack.com/services/T0/B0/x"); err != nil {
			t.Fatal(err)
		}
		// Ana may not read it: the account of the rule does.
		if _, err := n.OpenPullRequests(n.as(1), c, site); err != nil {
			t.Errorf("the account of a rule: %v", err)
		}
		n.After(1, n.Expire)
		if _, err := n.OpenPullRequests(notify.OnBehalf(t.Context(), 2), c, shop); err != nil {
			t.Errorf("a token that ends: %v", err)
		}
		n.Withdraw(ben)
		if _, err := n.OpenPullRequests(notify.OnBehalf(t.Context(), 2), c, shop); !fault.Is(err, fault.Unavailable) || n.account(b.ID).State != notify.AuthorizationWithdrawn {
			t.Errorf("withdrawn: %v", err)
		}
	})
}
