package authorizations

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// Two nodes that look at the same time refresh each account once, and callers on
// the other node get the new token.
func TestTwoNodesRefreshOnce(t *testing.T) {
	d := dbtest.Postgres(t, secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, d, bitbucketcloud.Options{RotateRefresh: true})
	nodes := []*node{w.node("node_1"), w.node("node_2"), w.node("node_3")}
	accounts := []notify.Authorization{nodes[0].authorize(1, ana), nodes[1].authorize(2, ben)}
	for i := range 3 {
		w.pass(2 * time.Hour) // the access tokens are over too
		w.SetFault("access_token", playgroundtest.Fault{Delay: 50 * time.Millisecond})
		var all sync.WaitGroup
		for _, n := range nodes {
			all.Go(func() { n.round() })
			for _, a := range accounts {
				all.Go(func() {
					if err := n.works(a.ID); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		if got := w.refreshes(2); got != 2*(i+1) {
			t.Errorf("after %d times the platform was asked for %d refreshes", i+1, got)
		}
	}
	for _, a := range accounts {
		if now := nodes[0].account(a.ID); now.Tokens != 4 || now.State != notify.AuthorizationActive {
			t.Errorf("%+v", now)
		}
	}
}

// While the key is changed node by node, a node that does not have the new one yet
// leaves alone what another has refreshed, and goes on with the other accounts.
func TestANodeWithoutTheNewKeyWithdrawsNothing(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{RotateRefresh: true}, func(t *testing.T, old *node) {
		first, second := old.authorize(1, ana), old.authorize(2, ben)
		box, err := secret.Open(t.Context(), old.d, bytes.Repeat([]byte{8}, secret.KeySize), bytes.Repeat([]byte{7}, secret.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		restarted := old.nodeWith("node_2", box)
		old.pass(2 * time.Hour)
		if err := restarted.works(first.ID); err != nil {
			t.Fatal(err)
		}
		if err := old.works(first.ID); !fault.Is(err, fault.Unavailable) {
			t.Errorf("the old node with the account whose tokens are new: %v", err)
		}
		old.pass(2 * time.Hour)
		old.round()
		if now := old.account(first.ID); now.State != notify.AuthorizationActive || now.Tokens != 2 {
			t.Errorf("the account whose tokens the old node cannot read: %+v", now)
		}
		if now := old.account(second.ID); now.State != notify.AuthorizationActive || now.Tokens != 2 {
			t.Errorf("the other one, which the old node refreshes: %+v", now)
		}
		for _, id := range []int64{first.ID, second.ID} {
			if err := restarted.works(id); err != nil {
				t.Error(err)
			}
		}
	})
}

// losing is a store that cannot keep tokens.
type losing struct {
	Store
	mu   sync.Mutex
	lost bool
}

func (l *losing) KeepTokens(ctx context.Context, a notify.Authorization, t notify.AccountTokens, now time.Time) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost {
		return false, errors.New("the database is away")
	}
	return l.Store.KeepTokens(ctx, a, t, now)
}

func (l *losing) lose(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = on
}

// A node that dies between the platform's answer and the commit takes the new
// tokens with it. The next one asks with the old refresh token: where platforms
// take it again nothing is lost, else the account is withdrawn and says why.
func TestANodeDiesInBetween(t *testing.T) {
	for _, rotate := range []bool{false, true} {
		eachWorld(t, bitbucketcloud.Options{RotateRefresh: rotate}, func(t *testing.T, n *node) {
			a := n.authorize(1, ana)
			dying := n.world.node("node_2")
			dying.Service.Store = &losing{Store: dying.store, lost: true}
			n.pass(90 * time.Minute)
			dying.round() // and it is never heard of again
			if now := n.account(a.ID); now.AskedAt.IsZero() || now.Tokens != 1 || n.refreshes(1) != 1 {
				t.Fatalf("%+v, %d refreshes", now, n.refreshes(1))
			}
			n.round()
			now := n.account(a.ID)
			if !rotate && (now.State != notify.AuthorizationActive || now.Tokens != 2 || n.works(a.ID) != nil) {
				t.Errorf("%+v", now)
			}
			if rotate && (now.State != notify.AuthorizationWithdrawn || !strings.Contains(now.Reason, "earlier refresh was lost")) {
				t.Errorf("%+v", now)
			}
		})
	}
}

// deafened is a platform whose answers to refreshes are lost on their way.
type deafened struct{ Platform }

func (d deafened) Refresh(ctx context.Context, c *notify.Connection, token secret.Value) (notify.AccountTokens, error) {
	if _, err := d.Platform.Refresh(ctx, c, token); err != nil {
		return notify.AccountTokens{}, err
	}
	return notify.AccountTokens{}, fault.New(fault.Unavailable, "The answer of the platform of cloud was cut off.")
}

// An answer that is lost on its way may have had new tokens in it as well: the
// old refresh token is tried again, and where it is of no more use the account
// says why, whatever the platform answered in between. What a platform refuses in
// so many words is no such loss.
func TestAnAnswerIsLost(t *testing.T) {
	for _, rotate := range []bool{false, true} {
		eachWorld(t, bitbucketcloud.Options{RotateRefresh: rotate}, func(t *testing.T, n *node) {
			a := n.authorize(1, ana)
			n.pass(90 * time.Minute)
			n.SetFault("access_token", playgroundtest.Fault{Kind: playgroundtest.Throttling})
			if n.round(); !n.account(a.ID).AskedAt.IsZero() {
				t.Error("a refusal counts as lost")
			}
			n.SetFault("access_token", playgroundtest.Fault{})
			n.pass(failedFor)
			hears := n.Service.Platform
			n.Service.Platform = deafened{hears}
			if n.round(); n.account(a.ID).AskedAt.IsZero() {
				t.Error("a lost answer is forgotten")
			}
			n.Service.Platform = hears
			n.SetFault("access_token", playgroundtest.Fault{Kind: playgroundtest.Broken})
			n.pass(failedFor)
			n.round()
			n.SetFault("access_token", playgroundtest.Fault{})
			n.pass(failedFor)
			n.round()
			now := n.account(a.ID)
			if !rotate && (now.State != notify.AuthorizationActive || now.Tokens != 2 || !now.AskedAt.IsZero() || n.works(a.ID) != nil) {
				t.Errorf("%+v", now)
			}
			if rotate && (now.State != notify.AuthorizationWithdrawn || !strings.Contains(now.Reason, "earlier refresh was lost")) {
				t.Errorf("%+v", now)
			}
		})
	}
}

// A node whose database is away keeps the new tokens, works with them, and has
// them kept as soon as it is back: also where another node was refused meanwhile.
func TestTokensAreKeptLater(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{RotateRefresh: true}, func(t *testing.T, n *node) {
		a := n.authorize(1, ana)
		other := n.world.node("node_2")
		away := &losing{Store: n.store, lost: true}
		n.Service.Store = away
		n.pass(90 * time.Minute)
		if n.round(); n.account(a.ID).Tokens != 1 {
			t.Fatal("the tokens were kept")
		}
		n.pass(time.Hour) // the tokens in the database are over
		if err := n.works(a.ID); err != nil || n.refreshes(1) != 1 {
			t.Errorf("with the tokens in memory: %v, %d refreshes", err, n.refreshes(1))
		}
		if err := other.works(a.ID); !fault.Is(err, fault.Conflict) || n.account(a.ID).State != notify.AuthorizationWithdrawn {
			t.Errorf("on another node: %v", err)
		}
		away.lose(false)
		n.Stop() // which keeps what is left
		if now := n.account(a.ID); now.State != notify.AuthorizationActive || now.Tokens != 2 {
			t.Errorf("%+v", now)
		}
		if err := other.works(a.ID); err != nil {
			t.Errorf("on another node, later: %v", err)
		}
		if err := n.works(a.ID); err != nil {
			t.Error(err)
		}
	})
}

// waiting is a platform whose answer to a refresh comes when it may.
type waiting struct {
	Platform
	asked, answer chan struct{}
}

func (w *waiting) Refresh(ctx context.Context, c *notify.Connection, refresh secret.Value) (notify.AccountTokens, error) {
	close(w.asked)
	<-w.answer
	return w.Platform.Refresh(ctx, c, refresh)
}

// A stop does not cut off a refresh, and no caller that leaves does: what comes
// of it is kept.
func TestAStopWaitsForARefresh(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{RotateRefresh: true}, func(t *testing.T, n *node) {
		a := n.authorize(1, ana)
		slow := &waiting{n.Service.Platform, make(chan struct{}), make(chan struct{})}
		n.Service.Platform = slow
		n.pass(2 * time.Hour)
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if err := n.Use(ctx, a.ID, func(*notify.Connection, secret.Value) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("a caller that left: %v", err)
			}
		})
		<-slow.asked
		leave()
		all.Wait()
		all.Go(n.Stop)
		close(slow.answer)
		all.Wait()
		if now := n.account(a.ID); now.Tokens != 2 || now.State != notify.AuthorizationActive {
			t.Errorf("%+v", now)
		}
		n.pass(2 * time.Hour)
		if err := n.works(a.ID); !fault.Is(err, fault.Unavailable) {
			t.Errorf("after the stop: %v", err)
		}
	})
}

// stubborn refuses to refresh one token, for a reason that may pass.
type stubborn struct {
	Platform
	refuses secret.Value
	pause   time.Duration // that it asks for; 0: none
}

func (s stubborn) Refresh(ctx context.Context, c *notify.Connection, token secret.Value) (notify.AccountTokens, error) {
	if token.Reveal() == s.refuses.Reveal() {
		err := fault.New(fault.Unavailable, "The platform of cloud answers 500 Internal Server Error.")
		err.RetryAfter = s.pause
		return notify.AccountTokens{}, err
	}
	return s.Platform.Refresh(ctx, c, token)
}

// An account whose tokens are never refreshed does not keep the others waiting,
// not by the pause that the platform asks for either.
func TestOneAccountIsNotRefreshed(t *testing.T) {
	for _, pause := range []time.Duration{0, 24 * time.Hour} {
		oneAccountIsNotRefreshed(t, pause)
	}
}

func oneAccountIsNotRefreshed(t *testing.T, pause time.Duration) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		first, second := n.authorize(1, ana), n.authorize(2, ben)
		_, tokens, err := n.store.AccountTokens(t.Context(), first.ID)
		if err != nil {
			t.Fatal(err)
		}
		n.Service.Platform = stubborn{n.Service.Platform, tokens.Refresh, pause}
		n.pass(90 * time.Minute)
		for range 11 {
			n.round()
			n.pass(every)
		}
		if now := n.account(second.ID); now.Tokens != 2 {
			t.Errorf("the other account waits: %+v", now)
		}
		if now := n.account(first.ID); now.State != notify.AuthorizationActive || now.Reason == "" {
			t.Errorf("%+v", now)
		}
	})
}
