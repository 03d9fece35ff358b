package deciding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

const (
	notMain = `(?!main$).*`
	// hungry takes too many steps on the branch of the same name.
	hungry       = `(a+)+(?=b)b`
	hungryBranch = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// world is a store with a decider that holds every shard.
type world struct {
	*Decider
	*store.Store
	t *testing.T
	n int // webhooks
}

func each(t *testing.T, fn func(w *world)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		fn(newWorld(t, d, secrettest.Box(t, d), groups{}))
	}, secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
}

// newWorld is a process that has just started.
func newWorld(t *testing.T, d *db.DB, box *secret.Box, members notify.Memberships) *world {
	s := store.New(d, box, slog.New(slog.DiscardHandler))
	s.UsePlatforms(notify.Connections{{Name: "dc", Kind: "bitbucket-dc"}}, nil)
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []int
	for n := range notify.Shards {
		all = append(all, n)
	}
	w := &world{t: t, Store: s, Decider: New(Options{
		Queue: s, Memberships: members, Holding: func() []int { return all }, Log: slog.New(slog.DiscardHandler),
	})}
	s.OnChange(w.Enqueued, func(int64) {})
	return w
}

// groups are the members of groups: by group, names.
type groups map[string][]string

func (p groups) MemberOf(_ context.Context, _, user string, groups []string) (bool, error) {
	for _, g := range groups {
		if g == "unknown" {
			return false, errors.New("the platform does not answer")
		}
		if slices.Contains(p[g], user) {
			return true, nil
		}
	}
	return false, nil
}

func (w *world) rule(name string, f notify.Filter) int64 {
	w.t.Helper()
	f.EventTypes = []notify.EventType{notify.BranchUpdated, notify.BranchDeleted}
	rule := notify.Rule{Name: name, Connection: "dc", Format: notify.Teams, Enabled: true, Filter: f}
	info, err := w.SaveRule(w.t.Context(), notify.Actor{Name: "test"}, rule, "https://"+name+".example.com/hook")
	if err != nil {
		w.t.Fatal(err)
	}
	return info.ID
}

func push(branch string) notify.Event {
	return notify.Event{
		Types: []notify.EventType{notify.BranchUpdated}, Connection: "dc", Actor: notify.User{Name: "ada"},
		Project: notify.Project{Key: "ATL"}, Repository: notify.Repository{Key: "canoe"}, Branch: branch,
		Ref: &notify.RefChange{Name: branch},
	}
}

func (w *world) accept(events ...notify.Event) {
	w.t.Helper()
	w.n++
	id := fmt.Sprint("webhook ", w.n)
	err := w.Accept(w.t.Context(), &notify.Receipt{
		Connection: "dc", Key: "repo:refs_changed", RequestID: id, ReceivedAt: time.Now(), Outcome: notify.Understood,
		Digest: []byte(id), Events: events,
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) decide() {
	w.t.Helper()
	for {
		n, err := w.runOnce(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		w.running.Wait() // for what platforms are asked
		if n == 0 {
			return
		}
	}
}

// expect compares the deliveries, the oldest first: branch, state and note.
func (w *world) expect(want ...string) {
	w.t.Helper()
	all, err := w.ListDeliveries(w.t.Context(), notify.DeliveryFilter{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, d := range slices.Backward(all) {
		about := d.Event.Branch
		if d.Event.Refs != nil {
			about = fmt.Sprint(d.Event.Refs.Count, d.Event.Refs.Names)
		}
		got = append(got, strings.TrimSpace(about+" "+string(d.State)+" "+d.Note))
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("deliveries\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestMasksDecide(t *testing.T) {
	each(t, func(w *world) {
		w.rule("a", notify.Filter{BranchMask: notMain})
		w.rule("b", notify.Filter{IgnoredBranchMask: notMain})
		w.accept(push("main"))
		w.accept(push("dev"))
		w.expect("main deciding", "main deciding", "dev deciding", "dev deciding")
		w.decide()
		w.expect("main waiting", "dev waiting")
	})
}

func TestAMaskThatTakesTooManyStepsIsRunThreeTimes(t *testing.T) {
	each(t, func(w *world) {
		w.rule("a", notify.Filter{BranchMask: hungry})
		const note = "Sent although “Branch mask” of the rule “a” could not be checked."
		var want []string
		for range notify.MaxMaskFailures {
			w.accept(push(hungryBranch))
			w.decide()
			want = append(want, hungryBranch+" waiting "+note)
		}
		w.accept(push(hungryBranch)) // nothing is left to decide
		w.expect(append(want, hungryBranch+" waiting "+note)...)
		w.decide()
		if n := testutil.ToFloat64(w.metrics.exhausted); n != notify.MaxMaskFailures {
			t.Errorf("the mask was run %v times", n)
		}
	})
}

// A rule of the cloud edition has its mask decided, and given up, in the same way.
func TestDestinationBranchFiltersDecide(t *testing.T) {
	each(t, func(w *world) {
		w.rule("a", notify.Filter{DestinationBranchFilter: `^(?!main$)`, ExpectedCommitStatus: notify.StatusBoth})
		w.accept(push("main"))
		w.accept(push("maintenance"))
		w.expect("main deciding", "maintenance deciding")
		w.decide()
		w.expect("maintenance waiting")
		want := []string{"maintenance waiting"}
		id := w.rule("b", notify.Filter{DestinationBranchFilter: hungry, ExpectedCommitStatus: notify.StatusBoth})
		for range notify.MaxMaskFailures + 1 {
			w.accept(push(hungryBranch))
			w.decide()
			want = append(want, hungryBranch+" waiting", hungryBranch+" waiting Sent although “Destination branch filter” of the rule “b” could not be checked.")
		}
		w.expect(want...)
		if n := testutil.ToFloat64(w.metrics.exhausted); n != notify.MaxMaskFailures {
			t.Errorf("the mask was run %v times", n)
		}
		info, err := w.Rule(t.Context(), id)
		if err != nil || !strings.HasPrefix(info.MaskError(), "“Destination branch filter” took too many steps on a branch name, 3 times, most recently at ") {
			t.Errorf("the rule says %q, %v", info.MaskError(), err)
		}
	})
}

// Many events that came at once do not run it more often.
func TestEventsAtOnceRunAHungryMaskThreeTimes(t *testing.T) {
	each(t, func(w *world) {
		w.rule("a", notify.Filter{BranchMask: hungry})
		for range 8 {
			w.accept(push(hungryBranch))
		}
		w.decide()
		if n := testutil.ToFloat64(w.metrics.exhausted); n != notify.MaxMaskFailures {
			t.Errorf("the mask was run %v times", n)
		}
		waiting, err := w.ListDeliveries(t.Context(), notify.DeliveryFilter{State: notify.Waiting, Limit: 100})
		if err != nil || len(waiting) != 8 {
			t.Errorf("%d wait, %v", len(waiting), err)
		}
	})
}

func TestGroupsDecide(t *testing.T) {
	each(t, func(w *world) {
		w.Memberships = groups{"devs": {"ada"}}
		w.rule("devs", notify.Filter{Groups: []string{"devs"}})
		w.rule("bots", notify.Filter{Groups: []string{"bots"}})
		w.rule("ignored", notify.Filter{IgnoredGroups: []string{"devs"}})
		w.rule("down", notify.Filter{Groups: []string{"unknown"}})
		w.rule("masked", notify.Filter{Groups: []string{"devs"}, BranchMask: notMain})
		w.accept(push("dev"))
		w.decide()
		w.expect("dev waiting", "dev waiting Sent although “Only events of members of these groups” of the rule “down” could not be checked.", "dev waiting")
		w.accept(push("main"))
		w.decide()
		list, err := w.ListDeliveries(t.Context(), notify.DeliveryFilter{Limit: 100})
		if err != nil || len(list) != 5 {
			t.Errorf("%d deliveries, %v; want 5: the mask alone refuses main", len(list), err)
		}
	})
}

// slow is a platform that answers when it is told to.
type slow struct {
	asked  chan struct{}
	answer chan struct{}
	once   sync.Once
}

func (s *slow) MemberOf(ctx context.Context, _, _ string, _ []string) (bool, error) {
	s.once.Do(func() { close(s.asked) })
	select {
	case <-s.answer:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// A platform that does not answer holds up nothing but its own questions, and
// an end of the process leaves them to the next.
func TestASilentPlatformHoldsUpNoMask(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		silent := &slow{asked: make(chan struct{}), answer: make(chan struct{})}
		w := newWorld(t, d, secrettest.Box(t, d), silent)
		w.rule("group", notify.Filter{Groups: []string{"devs"}})
		w.rule("mask", notify.Filter{BranchMask: notMain})
		w.Decider.Start(t.Context())
		w.accept(push("dev"))
		<-silent.asked
		w.accept(push("main"), push("next"))
		for w.len(notify.Deciding) != 3 || w.len(notify.Waiting) != 2 {
			if t.Context().Err() != nil {
				return
			}
			<-time.After(time.Millisecond)
		}
		w.Decider.Stop()
		if n := w.len(notify.Deciding); n != 3 {
			t.Errorf("%d are undecided after the end; want 3", n)
		}
		next := newWorld(t, d, secrettest.Box(t, d), groups{"devs": {"ada"}})
		next.decide()
		next.expect("dev waiting", "dev waiting", "main waiting", "next waiting", "next waiting")
	}, secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
}

func (w *world) len(state notify.DeliveryState) int {
	w.t.Helper()
	list, err := w.ListDeliveries(w.t.Context(), notify.DeliveryFilter{State: state, Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(list)
}

// Rules that came to an end meanwhile want nothing; a changed one is asked as it
// is now.
func TestRulesThatChangedMeanwhile(t *testing.T) {
	each(t, func(w *world) {
		id := w.rule("a", notify.Filter{BranchMask: notMain})
		w.accept(push("dev"))
		info, err := w.Rule(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		info.BranchMask = `(?!dev$).*`
		if _, err := w.SaveRule(t.Context(), notify.Actor{Name: "test"}, info.Rule, ""); err != nil {
			t.Fatal(err)
		}
		w.decide()
		w.expect()
		w.accept(push("next"))
		if err := w.DeleteRule(t.Context(), notify.Actor{Name: "test"}, id, 0); err != nil {
			t.Fatal(err)
		}
		w.decide()
		w.expect("next cancelled")
	})
}

// A webhook that changed many refs is one message about those that the mask
// takes.
func TestManyRefs(t *testing.T) {
	each(t, func(w *world) {
		w.rule("a", notify.Filter{BranchMask: `(?!old/).*`})
		w.rule("b", notify.Filter{BranchMask: `(?!old/|new/[1-9]).*`})
		w.rule("c", notify.Filter{BranchMask: `(?!old/|new/).*`})
		var refs []notify.Event
		for i := range 12 {
			refs = append(refs, push(fmt.Sprint("old/", i)), push(fmt.Sprint("new/", i)))
		}
		w.accept(refs...)
		w.decide()
		w.expect("12 [new/0 new/1 new/2 new/3 new/4 new/5 new/6 new/7 new/8 new/9 new/10 new/11] waiting", "new/0 waiting")
	})
}
