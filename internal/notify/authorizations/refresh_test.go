package authorizations

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
)

// Tokens are refreshed half an hour ahead, again and again, also where each
// refresh token is taken once.
func TestRefreshAhead(t *testing.T) {
	for _, rotate := range []bool{false, true} {
		eachWorld(t, bitbucketcloud.Options{RotateRefresh: rotate}, func(t *testing.T, n *node) {
			a := n.authorize(1, ana)
			n.pass(90*time.Minute - time.Second)
			if got := n.round(); got != 0 {
				t.Errorf("%d refreshed early", got)
			}
			for i := range 3 {
				n.pass(time.Second)
				if got := n.round(); got != 1 || n.round() != 0 {
					t.Errorf("refresh %d: %d", i, got)
				}
				n.pass(90*time.Minute - time.Second)
				if err := n.works(a.ID); err != nil {
					t.Errorf("after refresh %d: %v", i, err)
				}
			}
			if got := n.refreshes(1); got != 3 {
				t.Errorf("the platform was asked %d times", got)
			}
			if now := n.account(a.ID); now.Tokens != 4 || !now.AskedAt.IsZero() {
				t.Errorf("%+v", now)
			}
		})
	}
}

// A withdrawn account says so in the platform's words, and when; given again it
// is the same one.
func TestWithdrawnAndGivenAgain(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		a := n.authorize(1, ana)
		n.Withdraw(ana)
		n.pass(90 * time.Minute)
		if got := n.round(); got != 0 {
			t.Errorf("%d refreshed", got)
		}
		now := n.account(a.ID)
		if now.State != notify.AuthorizationWithdrawn || !strings.Contains(now.Reason, "invalid_grant") || !now.StateAt.Equal(n.clock()) || !now.DueAt.IsZero() {
			t.Errorf("%+v", now)
		}
		if err := n.works(a.ID); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "invalid_grant") {
			t.Errorf("%v", err)
		}
		asked := n.Asked("")
		n.pass(time.Hour)
		if n.round(); n.Asked("") != asked {
			t.Error("the platform is asked on")
		}
		again := n.authorize(1, ana)
		if again.ID != a.ID || again.State != notify.AuthorizationActive || again.Reason != "" || n.works(a.ID) != nil {
			t.Errorf("%+v", again)
		}
	})
}

// While the platform is away nothing changes but the time of the next try.
func TestThePlatformIsAway(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		a, b := n.authorize(1, ana), n.authorize(1, ben)
		n.SetFault("access_token", playgroundtest.Fault{Kind: playgroundtest.Broken})
		n.pass(90 * time.Minute)
		n.round()
		if got := n.refreshes(2); got != 1 { // the other account is not tried beside
			t.Errorf("asked %d times", got)
		}
		for _, id := range []int64{a.ID, b.ID} {
			if now := n.account(id); now.State != notify.AuthorizationActive || !now.DueAt.Round(time.Millisecond).Equal(n.clock().Add(failedFor)) {
				t.Errorf("%+v", now)
			}
		}
		if now := n.account(a.ID); !strings.Contains(now.Reason, "500") {
			t.Errorf("%+v", now)
		}
		n.SetFault("access_token", playgroundtest.Fault{Kind: playgroundtest.Throttling, RetryAfter: "600"})
		n.pass(failedFor)
		n.round()
		if now := n.account(b.ID); !now.DueAt.Round(time.Millisecond).Equal(n.clock().Add(10 * time.Minute)) {
			t.Errorf("throttled: %+v", now)
		}
		if now := n.account(a.ID); !now.DueAt.Round(time.Millisecond).Equal(n.clock().Add(heldFor)) {
			t.Errorf("held by the other: %+v", now)
		}
		// The token ends while the platform is away.
		n.SetFault("access_token", playgroundtest.Fault{Kind: playgroundtest.Broken})
		n.pass(time.Hour)
		if err := n.works(a.ID); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%v", err)
		}
		n.SetFault("access_token", playgroundtest.Fault{})
		n.pass(failedFor)
		if got := n.round(); got != 2 || n.works(a.ID) != nil || n.account(a.ID).Reason != "" {
			t.Errorf("%d refreshed, %+v", got, n.account(a.ID))
		}
	})
}

// A wrong secret of the connection's client is no withdrawal.
func TestAWrongClientSecretWithdrawsNothing(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		a := n.authorize(1, ana)
		n.SetConsumer(bitbucketcloud.Consumer{Key: "key", Secret: "another"})
		n.pass(90 * time.Minute)
		n.round()
		if now := n.account(a.ID); now.State != notify.AuthorizationActive || !strings.Contains(now.Reason, "client id and secret") {
			t.Errorf("%+v", now)
		}
	})
}

// A token that the platform refuses before its time is refreshed, and the call
// done once more; a new one that it refuses too is withdrawn.
func TestATokenThatIsRefused(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{RotateRefresh: true}, func(t *testing.T, n *node) {
		a := n.authorize(1, ana)
		n.Expire()
		if err := n.works(a.ID); err != nil || n.refreshes(1) != 1 {
			t.Errorf("%v, %d refreshes", err, n.refreshes(1))
		}
		n.SetFault("/user", playgroundtest.Fault{Kind: playgroundtest.Refusing})
		if err := n.works(a.ID); !fault.Is(err, fault.Conflict) || n.account(a.ID).State != notify.AuthorizationWithdrawn || n.refreshes(1) != 2 {
			t.Errorf("%v, %+v, %d refreshes", err, n.account(a.ID), n.refreshes(1))
		}
	})
}

// Tokens are sent to the platform that gave them only.
func TestAnotherBaseURL(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		a := n.authorize(1, ana)
		n.moveTo("http://127.0.0.1:1")
		if err := n.works(a.ID); !fault.Is(err, fault.Conflict) || n.account(a.ID).State != notify.AuthorizationWithdrawn {
			t.Errorf("%v, %+v", err, n.account(a.ID))
		}
	})
}

// Each question for tokens counts once, as what came of it; the accounts are
// counted as they are when they are asked for.
func TestRefreshesAndAccountsAreCounted(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		n.authorize(1, ana)
		revoked := n.authorize(1, ben)
		if err := n.api.Revoke(n.as(1), revoked.ID); err != nil {
			t.Fatal(err)
		}
		n.pass(90 * time.Minute)
		n.round()
		n.SetFault("access_token", playgroundtest.Fault{Kind: playgroundtest.Broken})
		n.pass(90 * time.Minute)
		n.round()
		n.round() // nothing is due
		n.SetFault("access_token", playgroundtest.Fault{})
		n.Withdraw(ana)
		n.pass(failedFor)
		n.round()
		n.round()
		for _, outcome := range []string{refreshed, unanswered, withdrawn} {
			if got := testutil.ToFloat64(n.metrics.refreshes.WithLabelValues(outcome)); got != 1 {
				t.Errorf("%s: %v", outcome, got)
			}
		}
		want := "# HELP outrigger_notify_authorizations The accounts of cloud platforms, of the whole cluster, by state: active, withdrawn, revoked.\n" +
			"# TYPE outrigger_notify_authorizations gauge\n" +
			"outrigger_notify_authorizations{state=\"active\"} 0\noutrigger_notify_authorizations{state=\"revoked\"} 1\noutrigger_notify_authorizations{state=\"withdrawn\"} 1\n"
		if err := testutil.CollectAndCompare(&accountsGauge{n.store}, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
	})
}
