package membership

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/egress/egresstest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketdc/client"
	"outrigger/internal/notify/store"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

var _ notify.Memberships = (*Memberships)(nil)

// world is a played platform with the nodes that ask it.
type world struct {
	*playgroundtest.Bitbucket
	t    *testing.T
	d    *db.DB
	url  string
	now  time.Time
	ask  func(ctx context.Context, c *notify.Connection, user, group string) (bool, error)
	node *Memberships
}

func eachWorld(t *testing.T, fn func(t *testing.T, w *world)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := &world{t: t, d: d, now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
		w.Bitbucket = playgroundtest.NewBitbucket(bitbucket.Options{
			Token: "right", Users: []bitbucket.User{{Name: "ann"}, {Name: "annabel"}},
			Groups: map[string][]string{"devs": {"ann"}, "ops": {"annabel"}, "leads": {"ann", "annabel"}},
		})
		server := httptest.NewServer(w.Handler())
		t.Cleanup(server.Close)
		out := egresstest.Client(t)
		w.url = server.URL
		w.ask = client.New(out.Trusted(), func() time.Time { return w.now }).Member
		w.node = w.startNode()
		fn(t, w)
	}, secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
}

// startNode starts a node, or starts it again.
func (w *world) startNode() *Memberships {
	w.t.Helper()
	log := slog.New(slog.DiscardHandler)
	s := store.New(w.d, secrettest.Box(w.t, w.d), log)
	kinds := map[string]notify.Decoder{"bitbucket-dc": func(key string, _ []byte, _ string) (string, []notify.Event, error) { return key, nil, nil }}
	s.UsePlatforms(notify.Connections{
		{Name: "main", Kind: "bitbucket-dc", BaseURL: w.url, Token: secret.New("right")}, {Name: "mute", Kind: "bitbucket-dc", BaseURL: w.url},
	}, kinds)
	if err := s.Load(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return New(Options{Store: s, Ask: w.ask, Clock: func() time.Time { return w.now }, Log: log})
}

func (w *world) want(member bool, user string, groups ...string) {
	w.t.Helper()
	if got, err := w.node.MemberOf(w.t.Context(), "main", user, groups); got != member || err != nil {
		w.t.Errorf("%s in %v: %v, %v", user, groups, got, err)
	}
}

func TestMemberOf(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.want(true, "ann", "devs")
		w.want(true, "ANN", " Devs ")
		if n := w.Asked("/users"); n != 1 {
			t.Errorf("two spellings of a question were asked %d times", n)
		}
		w.want(false, "ann", "ops")
		w.want(true, "ann", "ops", "leads")
		w.want(false, "", "devs") // who did it is not known
		if _, err := w.node.MemberOf(t.Context(), "none", "ann", []string{"devs"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("no such connection: %v", err)
		}
		if _, err := w.node.MemberOf(t.Context(), "mute", "ann", []string{"devs"}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("no account: %v", err)
		}
	})
}

// An answer holds for ten minutes, on every node, and is asked for again then.
func TestAnswersAreKept(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.want(true, "ann", "devs")
		w.Change(func(o *bitbucket.Options) { o.Groups["devs"] = nil })
		w.now = w.now.Add(freshFor - time.Second)
		w.want(true, "ann", "devs")
		w.node = w.startNode()
		w.want(true, "ann", "devs")
		if n := w.Asked("/users"); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		w.now = w.now.Add(time.Second)
		w.want(false, "ann", "devs")
	})
}

// While the platform cannot be asked the last answer holds for a week, also
// over a restart; then it is an error.
func TestTheLastAnswerHolds(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.want(true, "ann", "devs")
		w.want(false, "annabel", "devs")
		w.SetFault("", playgroundtest.Fault{Kind: playgroundtest.Broken})
		w.now = w.now.Add(freshFor)
		w.want(true, "ann", "devs")
		w.node = w.startNode()
		w.now = w.now.Add(Keep - freshFor - time.Second)
		w.want(true, "ann", "devs")
		w.want(false, "annabel", "devs")
		if _, err := w.node.MemberOf(t.Context(), "main", "ann", []string{"ops"}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("never answered: %v", err)
		}
		w.now = w.now.Add(time.Second)
		if _, err := w.node.MemberOf(t.Context(), "main", "ann", []string{"devs"}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("after a week: %v", err)
		}
		w.SetFault("", playgroundtest.Fault{})
		w.now = w.now.Add(failedFor)
		w.want(true, "ann", "devs")
	})
}

// A platform that fails is not asked for every event.
func TestAFailingPlatformIsLeftAlone(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.SetFault("", playgroundtest.Fault{Kind: playgroundtest.Broken})
		for range 5 {
			if _, err := w.node.MemberOf(t.Context(), "main", "ann", []string{"devs", "ops", "leads"}); !fault.Is(err, fault.Unavailable) {
				t.Fatal(err)
			}
		}
		if n := w.Asked("/users"); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
	})
}

// An event does not wait for a platform that says nothing longer than its
// worker does.
func TestAskingEndsWithItsContext(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		asked, over := make(chan struct{}), make(chan struct{})
		defer close(over)
		w.node.Ask = func(context.Context, *notify.Connection, string, string) (bool, error) {
			close(asked)
			<-over
			return false, context.Canceled
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		if _, err := w.node.MemberOf(ctx, "main", "ann", []string{"devs"}); !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
	})
}

// What another platform answered under the same name is not this one's.
func TestAnotherPlatformIsAskedItself(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		s := w.node.Store
		who := notify.Actor{Name: "ada", Source: "local"}
		c, _, err := s.CreateConnection(t.Context(), who, notify.Connection{Name: "other", Kind: "bitbucket-dc", BaseURL: w.url, Token: secret.New("right")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if member, err := w.node.MemberOf(t.Context(), "other", "ann", []string{"devs"}); !member || err != nil {
			t.Fatal(member, err)
		}
		c.BaseURL, c.Token, c.Version = "http://127.0.0.1:1", secret.New("right"), 0
		if _, err := s.SaveConnection(t.Context(), who, c, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if member, err := w.node.MemberOf(t.Context(), "other", "ann", []string{"devs"}); !fault.Is(err, fault.Unavailable) {
			t.Error(member, err)
		}
	})
}
