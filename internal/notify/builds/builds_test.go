package builds

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/egress/egresstest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/bitbucketdc"
	"outrigger/internal/notify/bitbucketdc/client"
	"outrigger/internal/notify/store"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

// world is a played platform, a node that asks it, and a rule that takes builds
// of the project ATL.
type world struct {
	*playgroundtest.Bitbucket
	t     *testing.T
	d     *db.DB
	url   string
	now   time.Time
	store *store.Store
	watch *Watch
	posts *admin.Builds
}

var start = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func eachWorld(t *testing.T, fn func(t *testing.T, w *world)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := &world{t: t, d: d, now: start}
		w.Bitbucket = playgroundtest.NewBitbucket(bitbucket.Options{Token: "right", Clock: w.clock})
		server := httptest.NewServer(w.Handler())
		t.Cleanup(server.Close)
		w.url = server.URL
		w.startNode("node_1")
		if _, err := w.store.SaveRule(t.Context(), notify.Actor{Name: "ada", Source: identity.Local}, notify.Rule{
			Name: "builds", Connection: "main", ProjectKey: "ATL", Format: notify.Auto, Enabled: true,
			Filter: notify.Filter{EventTypes: []notify.EventType{notify.BuildStatusSet}},
		}, "https://hooks.slack.com/services/T0/B0/x"); err != nil {
			t.Fatal(err)
		}
		fn(t, w)
	}, secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
}

func (w *world) clock() time.Time { return w.now }

// startNode starts a node in place of the one before.
func (w *world) startNode(id string) {
	w.t.Helper()
	log := slog.New(slog.DiscardHandler)
	w.store = store.New(w.d, secrettest.Box(w.t, w.d), log)
	kinds := map[string]notify.Decoder{"bitbucket-dc": bitbucketdc.Decode}
	w.store.UsePlatforms(notify.Connections{
		{Name: "main", Kind: "bitbucket-dc", BaseURL: w.url, Token: secret.New("right")}, {Name: "mute", Kind: "bitbucket-dc", BaseURL: w.url},
	}, kinds)
	if err := w.store.Load(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	leases := dbtest.Leases(w.t, w.d, id)
	out := egresstest.Client(w.t)
	w.posts = &admin.Builds{Store: w.store, Event: bitbucketdc.BuildEvent, Clock: w.clock}
	w.watch = New(Options{
		Store: w.store, Ask: client.New(out.Trusted(), w.clock).Builds, Take: w.posts.Take, Leases: leases, Clock: w.clock, Log: log,
	})
}

func commit(n int) string { return fmt.Sprintf("%040x", n) }

// push has the platform say that a commit was pushed.
func (w *world) push(connection, project, branch string, n int) {
	w.t.Helper()
	e := notify.Event{
		Types: []notify.EventType{notify.BranchUpdated}, Connection: connection, Branch: branch,
		Project: notify.Project{Key: project}, Repository: notify.Repository{Key: "canoe"},
		Ref:     &notify.RefChange{Name: branch, To: commit(n)},
		Commits: []notify.Commit{{ID: commit(n)}, {ID: commit(n + 1000)}},
	}
	if err := w.store.Accept(w.t.Context(), &notify.Receipt{
		Connection: connection, Key: "repo:refs_changed", RequestID: fmt.Sprint(connection, project, branch, n, w.now), ReceivedAt: w.now,
		Outcome: notify.Understood, Events: []notify.Event{e}, Digest: fmt.Append(nil, project, branch, n),
	}); err != nil {
		w.t.Fatal(err)
	}
}

// round lets time pass and asks for what is due then.
func (w *world) round(d time.Duration) int {
	w.t.Helper()
	w.now = w.now.Add(d)
	asked, err := w.watch.runOnce(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return asked
}

// messages are "branch key state", in the order in which they go out.
func (w *world) messages() (list []string) {
	w.t.Helper()
	waiting, err := w.store.ListDeliveries(w.t.Context(), notify.DeliveryFilter{State: notify.Waiting, Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range slices.Backward(waiting) {
		list = append(list, strings.Join([]string{d.Event.Branch, d.Event.Build.Key, d.Event.Build.State}, " "))
	}
	return list
}

func (w *world) want(messages ...string) {
	w.t.Helper()
	if got := w.messages(); !slices.Equal(got, messages) {
		w.t.Errorf("messages %q, want %q", got, messages)
	}
}

// The builds of a pushed commit are asked for after 30 s, then more slowly, for
// two hours; each state is one message, over a restart too.
func TestAPushedCommitIsAskedFor(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.push("main", "ATL", "main", 1)
		w.SetBuild(commit(1), bitbucket.Build{Key: "unit", State: "INPROGRESS", URL: "https://ci.example.com/1"})
		if n := w.round(firstAsk - time.Second); n != 0 {
			t.Fatalf("asked for %d before 30 s", n)
		}
		w.round(time.Second)
		w.want("main unit INPROGRESS")
		w.SetBuild(commit(1), bitbucket.Build{Key: "unit", State: "FAILED", URL: "https://ci.example.com/1"})
		w.SetBuild(commit(1), bitbucket.Build{Key: "e2e", State: "SUCCESSFUL", URL: "https://ci.example.com/2", Ref: "refs/heads/next"})
		w.startNode("node_2")
		w.round(firstPause)
		want := []string{"main unit INPROGRESS", "next e2e SUCCESSFUL", "main unit FAILED"}
		w.want(want...)
		var at []time.Duration
		for range 3 * 3600 / 5 {
			if w.round(every) > 0 {
				at = append(at, w.now.Sub(start))
			}
		}
		w.want(want...)
		if at[0] != 2*time.Minute || at[1] != 4*time.Minute || at[2] != 8*time.Minute || at[3] != 13*time.Minute || at[len(at)-1] > askFor || len(at) > 27 {
			t.Errorf("asked at %v", at)
		}
		if n := w.Asked(commit(1001)); n != 0 {
			t.Errorf("a commit within a push was asked for %d times", n)
		}
	})
}

const firstAsk = 30 * time.Second

// Only what a rule wants is asked for, where there is an account to ask with,
// and what was built before is no news.
func TestWhatIsNotAskedFor(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.SetBuild(commit(1), bitbucket.Build{Key: "unit", State: "FAILED", URL: "https://ci.example.com/1", Added: start.Add(-time.Hour)})
		w.push("main", "ATL", "new-branch", 1)
		w.push("main", "PAC", "main", 2)
		w.push("mute", "ATL", "main", 3)
		if n := w.round(time.Hour); n != 1 || w.Asked(commit(1)) != 1 {
			t.Errorf("asked for %d, %d times for the first", n, w.Asked(commit(1)))
		}
		w.want()
		w.SetBuild(commit(1), bitbucket.Build{Key: "unit", State: "BROKEN", URL: "https://ci.example.com/1", Added: w.now})
		w.SetBuild(commit(1), bitbucket.Build{Key: "lint", State: "SUCCESSFUL", URL: "javascript:alert(1)", Added: w.now})
		w.round(30 * time.Minute)
		w.want()
	})
}

// A build that is posted and read from the platform is one message, whichever
// was first.
func TestOneMessageOverBothWays(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.push("main", "ATL", "main", 1)
		post := func(key, state string) {
			t.Helper()
			root := identity.With(t.Context(), &identity.Principal{Name: "ci", Grants: []identity.Grant{{Permission: identity.SysAdmin}}})
			if err := w.posts.Post(root, "main", notify.RepositoryRef{ProjectKey: "atl", RepositoryKey: "canoe"}, notify.PlatformBuild{
				Build: notify.Build{Commit: strings.ToUpper(commit(1)), Key: key, State: state},
			}); err != nil {
				t.Fatal(err)
			}
		}
		post("unit", "FAILED")
		w.SetBuild(commit(1), bitbucket.Build{Key: "unit", State: "FAILED", URL: "https://ci.example.com/1"})
		w.SetBuild(commit(1), bitbucket.Build{Key: "e2e", State: "FAILED", URL: "https://ci.example.com/1"})
		w.round(firstAsk)
		post("e2e", "FAILED")
		w.want("main unit FAILED", "main e2e FAILED")
	})
}

// A platform that fails is left alone for a minute, and the commits wait.
func TestAFailingPlatform(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for n := range 5 {
			w.push("main", "ATL", "main", n)
		}
		w.SetBuild(commit(4), bitbucket.Build{Key: "unit", State: "FAILED", URL: "https://ci.example.com/1", Added: start})
		w.SetFault("", playgroundtest.Fault{Kind: playgroundtest.Broken})
		w.round(firstAsk)
		if n := w.Asked(""); n != 1 {
			t.Errorf("asked %d times", n)
		}
		w.SetFault("", playgroundtest.Fault{})
		w.round(failedFor - time.Second)
		w.round(time.Second)
		w.want("main unit FAILED")
	})
}

// One node asks at a time.
func TestOneNodeAsks(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.push("main", "ATL", "main", 1)
		other := db.NewLeases(w.d, "node_2", slog.New(slog.DiscardHandler))
		if err := other.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer other.Stop()
		held, err := other.Acquire(t.Context(), leaseName)
		if err != nil || held == nil {
			t.Fatal(held, err)
		}
		if n := w.round(firstAsk); n != 0 {
			t.Errorf("asked for %d beside another node", n)
		}
		if err := other.Release(t.Context(), held); err != nil {
			t.Fatal(err)
		}
		if n := w.round(0); n != 1 {
			t.Errorf("asked for %d after the other node", n)
		}
	})
}
