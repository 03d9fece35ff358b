package builds

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/playground/bitbucket"
)

// post takes a build from a build server, a second later.
func (w *world) post(b notify.PlatformBuild) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	if err := w.postTo(w.posts, b); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) postTo(posts *admin.Builds, b notify.PlatformBuild) error {
	root := identity.With(w.t.Context(), &identity.Principal{Name: "ci", Grants: []identity.Grant{{Permission: identity.SysAdmin}}})
	return posts.Post(root, "main", notify.RepositoryRef{ProjectKey: "ATL", RepositoryKey: "canoe"}, b)
}

// Each change of the last state of a key is a message, and the same state again
// only where it is of another run.
func TestEachChangeOfAStateIsAMessage(t *testing.T) {
	of := func(state, url, number string, added int64) notify.PlatformBuild {
		b := notify.PlatformBuild{Number: number, Build: notify.Build{Commit: commit(1), Key: "unit", State: state, URL: url}}
		if added != 0 {
			b.Added = start.Add(time.Duration(added) * time.Second)
		}
		return b
	}
	state := func(states ...string) (all []notify.PlatformBuild) {
		for _, s := range states {
			all = append(all, of(s, "", "", 0))
		}
		return all
	}
	const url1, url2 = "https://ci.example.com/1", "https://ci.example.com/2"
	for name, c := range map[string]struct {
		posted []notify.PlatformBuild
		want   string
	}{
		"a state that comes back": {state("FAILED", "INPROGRESS", "SUCCESSFUL", "FAILED"), "FAILED INPROGRESS SUCCESSFUL FAILED"},
		"back and forth":          {state("FAILED", "SUCCESSFUL", "FAILED", "SUCCESSFUL", "FAILED"), "FAILED SUCCESSFUL FAILED SUCCESSFUL FAILED"},
		"the same again":          {state("FAILED", "FAILED", "FAILED", "SUCCESSFUL", "SUCCESSFUL"), "FAILED SUCCESSFUL"},
		"another page":            {[]notify.PlatformBuild{of("FAILED", url1, "", 0), of("FAILED", url2, "", 0), of("FAILED", url2, "", 0)}, "FAILED FAILED"},
		"another number":          {[]notify.PlatformBuild{of("FAILED", url1, "1", 0), of("FAILED", url1, "2", 0), of("FAILED", url1, "2", 0)}, "FAILED FAILED"},
		"another date":            {[]notify.PlatformBuild{of("FAILED", url1, "1", 1), of("FAILED", url1, "1", 9), of("FAILED", url1, "1", 9)}, "FAILED FAILED"},
		"what is said later":      {[]notify.PlatformBuild{of("FAILED", "", "", 0), of("FAILED", url1, "1", 1), of("FAILED", url1, "", 0), of("FAILED", url2, "", 0)}, "FAILED FAILED"},
		"a run of many pages":     {[]notify.PlatformBuild{of("INPROGRESS", url1, "1", 0), of("FAILED", url1, "1", 0), of("INPROGRESS", url1, "2", 0), of("FAILED", url1, "2", 0)}, "INPROGRESS FAILED INPROGRESS FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				for _, b := range c.posted {
					w.post(b)
					other := b
					other.Key = "e2e" // of another key of the same commit it says nothing
					w.post(other)
				}
				var want []string
				for _, s := range strings.Fields(c.want) {
					want = append(want, " unit "+s, " e2e "+s)
				}
				w.want(want...)
			})
		})
	}
}

// What is compared is the last state over both ways, and what the platform says
// late of an earlier one is no news.
func TestTheLastStateOverBothWays(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		build := func(key, state string) notify.PlatformBuild {
			return notify.PlatformBuild{Build: notify.Build{Commit: commit(1), Key: key, State: state, URL: "https://ci.example.com/" + key}}
		}
		set := func(key, state string) {
			w.now = w.now.Add(time.Second)
			w.SetBuild(commit(1), bitbucket.Build{Key: key, State: state, URL: "https://ci.example.com/" + key})
		}
		w.push("main", "ATL", "main", 1)
		for _, key := range []string{"unit", "e2e"} {
			set(key, "FAILED")
		}
		w.round(firstAsk)
		w.post(build("unit", "FAILED"))
		w.post(build("unit", "INPROGRESS")) // the platform still says FAILED
		w.startNode("node_2")
		w.round(5 * time.Minute)
		set("unit", "INPROGRESS")
		set("e2e", "SUCCESSFUL")
		w.round(5 * time.Minute)
		w.post(build("unit", "SUCCESSFUL")) // the platform still says INPROGRESS
		w.round(5 * time.Minute)
		set("unit", "SUCCESSFUL")
		set("e2e", "FAILED")
		w.round(5 * time.Minute)
		w.post(build("unit", "SUCCESSFUL"))
		w.post(build("e2e", "FAILED"))
		w.round(5 * time.Minute)
		set("unit", "FAILED")
		w.round(5 * time.Minute)
		set("unit", "FAILED") // again, which nobody saw
		w.round(5 * time.Minute)
		got := w.messages()
		for key, want := range map[string]string{"unit": "FAILED INPROGRESS SUCCESSFUL FAILED FAILED", "e2e": "FAILED SUCCESSFUL FAILED"} {
			var states []string
			for _, m := range got {
				if f := strings.Fields(m); f[1] == key {
					states = append(states, f[2])
				}
			}
			if strings.Join(states, " ") != want {
				t.Errorf("%s: %q, want %s", key, states, want)
			}
		}
	})
}

// A build server posts 10,000 states of one commit, to two nodes at once: the
// messages of each key are in order, none says what the one before said, and
// what is kept to compare is one row a key.
func TestTenThousandStatesOfOneCommit(t *testing.T) {
	const keys, each = 50, 200
	eachWorld(t, func(t *testing.T, w *world) {
		first := w.posts
		nodes := []*admin.Builds{first, first}
		if w.d.Dialect() == db.Postgres {
			w.startNode("node_2")
			nodes[1] = w.posts
		}
		states := []string{"INPROGRESS", "INPROGRESS", "FAILED", "FAILED", "FAILED", "SUCCESSFUL"}
		for _, n := range nodes {
			n.Clock = time.Now
		}
		var wait sync.WaitGroup
		post := func(by int, key string, i int) {
			if err := w.postTo(nodes[by%2], notify.PlatformBuild{Build: notify.Build{Commit: commit(1), Key: key, State: states[i%len(states)]}}); err != nil {
				t.Error(err)
			}
		}
		for k := range keys {
			wait.Go(func() {
				for i := range each {
					post(k, fmt.Sprint("key-", k), i)
				}
			})
		}
		for k := range 2 * len(nodes) { // and a key that all post at once
			wait.Go(func() {
				for i := range each {
					post(k, "shared", i)
				}
			})
		}
		wait.Wait()
		var want []string
		for i := range each {
			want = append(want, states[i%len(states)])
		}
		want = slices.Compact(want)
		said := map[string][]string{}
		for _, m := range w.allMessages() {
			said[m.Build.Key] = append(said[m.Build.Key], m.Build.State)
		}
		for key, list := range said {
			want := want
			if key == "shared" {
				want = slices.Compact(slices.Clone(list))
			}
			if !slices.Equal(list, want) {
				t.Errorf("%s: %d messages, want %d; the first are %q", key, len(list), len(want), list[:min(10, len(list))])
			}
		}
		if n := len(said); n != keys+1 {
			t.Errorf("messages of %d keys", n)
		}
		rows := map[string]int{}
		if err := w.d.Read(t.Context(), func(tx *db.Tx) error {
			for _, table := range []string{"notify_builds", "notify_commits", "notify_events", "notify_deliveries"} {
				var n int
				if err := tx.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
					return err
				}
				rows[table] = n
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if rows["notify_builds"] != keys+1 || rows["notify_commits"] != 0 || rows["notify_events"] != rows["notify_deliveries"] {
			t.Errorf("rows %v", rows)
		}
	})
}

// allMessages are the events of all messages, in the order in which they go out.
func (w *world) allMessages() (all []*notify.Event) {
	w.t.Helper()
	for before := int64(0); ; {
		list, err := w.store.ListDeliveries(w.t.Context(), notify.DeliveryFilter{State: notify.Waiting, Before: before, Limit: 1000})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, d := range list {
			all, before = append(all, d.Event), d.ID
		}
		if len(list) < 1000 {
			slices.Reverse(all)
			return all
		}
	}
}
