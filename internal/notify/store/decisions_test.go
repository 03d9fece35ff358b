package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/notify/branchmask"
)

// backtracking is a mask that no event is matched against while it is received.
const backtracking = `(?!main$).*`

func masked(name string) notify.Rule {
	r := someRule(name)
	r.BranchMask = backtracking
	return r
}

func push(branch string) notify.Event {
	return notify.Event{
		Types: []notify.EventType{notify.BranchUpdated}, Connection: "dc", Project: notify.Project{Key: "ATL"},
		Repository: notify.Repository{Key: "canoe"}, Branch: branch, URL: branch,
	}
}

func undecided(t *testing.T, s *Store) []*notify.Delivery {
	t.Helper()
	found, err := s.Undecided(t.Context(), allShards, 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func settle(t *testing.T, s *Store, d *notify.Delivery, decisions ...notify.Decision) {
	t.Helper()
	if err := s.Settle(t.Context(), []*notify.Settlement{{Delivery: d, Decisions: decisions}}); err != nil {
		t.Fatal(err)
	}
}

// described is every delivery, the oldest first.
func described(t *testing.T, s *Store) []string {
	t.Helper()
	all, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range slices.Backward(all) {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %v %s", d.Event.Branch, d.State, d.Rules, d.Note)))
	}
	return out
}

func expectDeliveries(t *testing.T, s *Store, want ...string) {
	t.Helper()
	if got := described(t, s); !slices.Equal(got, want) {
		t.Errorf("deliveries\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// decisions are what is kept of an event, by rule.
func decisions(t *testing.T, s *Store, event int64) (found []string) {
	t.Helper()
	err := s.db.Read(t.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT rule_id, decision, member FROM notify_decisions WHERE event_id = $1 ORDER BY rule_id`, event)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var rule int64
			var decision, member string
			if err := rows.Scan(&rule, &decision, &member); err != nil {
				return err
			}
			found = append(found, strings.TrimSpace(fmt.Sprint(rule, " ", decision, " ", member)))
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func count(t *testing.T, s *Store, query string, args ...any) (n int) {
	t.Helper()
	err := s.db.Read(t.Context(), func(tx *db.Tx) error { return tx.QueryRow(t.Context(), query, args...).Scan(&n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestUndecidedIsCommittedWithItsEvent(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		rule := save(t, s, masked("a"), flowURL("a")).ID
		accept(t, s, webhook("1", push("dev")))
		expectDeliveries(t, s, fmt.Sprintf("dev deciding [%d]", rule))
		found := undecided(t, s)
		if len(found) != 1 || !slices.Equal(found[0].Undecided, []int64{rule}) || found[0].Event.Branch != "dev" {
			t.Fatalf("undecided: %+v", found)
		}
		if again, err := s.Undecided(t.Context(), allShards, 100, []int64{found[0].ID}); err != nil || len(again) != 0 {
			t.Errorf("without it: %v, %v", again, err)
		}
		if other, err := s.Undecided(t.Context(), []int{notify.ShardOf(found[0].ChannelID + 1)}, 100, nil); err != nil || len(other) != 0 {
			t.Errorf("on other shards: %v, %v", other, err)
		}
		for state, want := range map[notify.DeliveryState]int{notify.Deciding: 1, notify.Waiting: 0} {
			list, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{State: state, Limit: 10})
			if err != nil || len(list) != want {
				t.Errorf("%s: %d, %v; want %d", state, len(list), err, want)
			}
		}
		if n := count(t, s, `SELECT rules FROM notify_events`); n != 0 {
			t.Errorf("%d rules took the event; nothing is decided", n)
		}
	})
}

func TestSettling(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		a := save(t, s, masked("a"), flowURL("a")).ID
		b := save(t, s, masked("b"), flowURL("a")).ID
		taken := func(rule int64) notify.Decision { return notify.Decision{RuleID: rule, Taken: true} }
		refused := func(rule int64) notify.Decision { return notify.Decision{RuleID: rule, Member: "branchMask"} }

		accept(t, s, webhook("1", push("both")))
		d := undecided(t, s)[0]
		settle(t, s, d, taken(a), taken(b))
		expectDeliveries(t, s, fmt.Sprintf("both waiting [%d %d]", a, b))

		accept(t, s, webhook("2", push("one")))
		d = undecided(t, s)[0]
		settle(t, s, d, refused(a), notify.Decision{RuleID: b, Taken: true, Note: "The groups were not asked."})
		settle(t, s, d, taken(a)) // too late
		expectDeliveries(t, s, fmt.Sprintf("both waiting [%d %d]", a, b), fmt.Sprintf("one waiting [%d] The groups were not asked.", b))
		if got := decisions(t, s, d.EventID); !slices.Equal(got, []string{fmt.Sprint(a, " refused branchMask"), fmt.Sprint(b, " taken")}) {
			t.Errorf("kept: %v", got)
		}
		if n := count(t, s, `SELECT rules FROM notify_events WHERE id = $1`, d.EventID); n != 1 {
			t.Errorf("%d rules took the event", n)
		}

		accept(t, s, webhook("3", push("none")))
		d = undecided(t, s)[0]
		settle(t, s, d, refused(a))
		expectDeliveries(t, s, fmt.Sprintf("both waiting [%d %d]", a, b), fmt.Sprintf("one waiting [%d] The groups were not asked.", b), fmt.Sprintf("none deciding [%d]", b))
		settle(t, s, d, refused(b))
		if got := described(t, s); len(got) != 2 {
			t.Errorf("what no rule takes is still there: %v", got)
		}
		if n := count(t, s, `SELECT needed FROM notify_events WHERE id = $1`, d.EventID); n != 0 {
			t.Errorf("the event is needed by %d deliveries", n)
		}

		// On SQLite the id is given again.
		accept(t, s, webhook("4", push("next")))
		settle(t, s, d, taken(a), taken(b))
		if got := described(t, s); got[2] != fmt.Sprintf("next deciding [%d %d]", a, b) {
			t.Errorf("a late decision about what was removed changed %v", got)
		}
	})
}

func TestARuleThatTookAtOnceDoesNotWait(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		a := save(t, s, masked("a"), flowURL("a")).ID
		b := save(t, s, someRule("b"), flowURL("a")).ID
		accept(t, s, webhook("1", push("dev")))
		expectDeliveries(t, s, fmt.Sprintf("dev waiting [%d %d]", a, b))
		settle(t, s, undecided(t, s)[0], notify.Decision{RuleID: a, Member: "branchMask"})
		expectDeliveries(t, s, fmt.Sprintf("dev waiting [%d]", b))
		byRule, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{RuleID: b, Limit: 10})
		if err != nil || len(byRule) != 1 {
			t.Errorf("of the rule that took it: %v, %v", byRule, err)
		}
		if byRule, err = s.ListDeliveries(t.Context(), notify.DeliveryFilter{RuleID: a, Limit: 10}); err != nil || len(byRule) != 0 {
			t.Errorf("of the rule that refused it: %v, %v", byRule, err)
		}
	})
}

// A delivery that one rule kept on its channel goes where the others send now.
func TestDecisionsFollowRulesThatMoved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		a := save(t, s, masked("a"), flowURL("a"))
		b := save(t, s, masked("b"), flowURL("a"))
		accept(t, s, webhook("1", push("dev")))
		d := undecided(t, s)[0]
		moved := save(t, s, b.Rule, flowURL("b"))
		settle(t, s, d, notify.Decision{RuleID: a.ID, Member: "branchMask"}, notify.Decision{RuleID: b.ID, Taken: true})
		if got := waiting(t, s); len(got) != 1 || got[0].ChannelID != moved.ChannelID {
			t.Errorf("waiting: %+v; want it on channel %d", got, moved.ChannelID)
		}
	})
}

// Whatever ends an undecided delivery, the counters add up, and it may still be
// sent by hand.
func TestCountersOfWhatWasUndecided(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		registry := prometheus.NewRegistry()
		s.Measure(registry)
		rule := save(t, s, masked("a"), flowURL("a"))
		for _, branch := range []string{"taken", "refused", "cancelled", "skipped", "expired", "disabled", "undecided"} {
			accept(t, s, webhook(branch, push(branch)))
		}
		byBranch := make(map[string]*notify.Delivery)
		for _, d := range undecided(t, s) {
			byBranch[d.Event.Branch] = d
		}
		expectCounts(t, s, 0, 0, 7)
		settle(t, s, byBranch["taken"], notify.Decision{RuleID: rule.ID, Taken: true})
		settle(t, s, byBranch["refused"], notify.Decision{RuleID: rule.ID, Member: "branchMask"})
		expectCounts(t, s, 1, 1, 5)
		if n, err := s.Cancel(t.Context(), ada, []int64{byBranch["cancelled"].ID}); err != nil || n.Done != 1 {
			t.Fatal(n, err)
		}
		expectCounts(t, s, 2, 1, 4)
		if n, err := s.expireBeyond(t.Context(), rule.ChannelID, 3); err != nil || n != 2 { // taken, skipped
			t.Fatal(n, err)
		}
		expectCounts(t, s, 3, 0, 3)
		r := rule.Rule
		r.Enabled = false
		off := save(t, s, r, "")
		expectCounts(t, s, 6, 0, 0)
		if got := undecided(t, s); len(got) != 0 {
			t.Errorf("still undecided: %v", got)
		}
		off.Rule.Enabled = true
		save(t, s, off.Rule, "")
		done, err := s.Redeliver(t.Context(), ada, []int64{byBranch["disabled"].ID})
		if err != nil || done.Done != 1 {
			t.Errorf("redelivered %+v, %v", done, err)
		}
		expectCounts(t, s, 7, 1, 0)
		if matched, ended := testutil.ToFloat64(s.counts.matched), endedCount(s); matched != ended+1 {
			t.Errorf("%v matched, %v ended, 1 waits", matched, ended)
		}
	})
}

func endedCount(s *Store) (n float64) {
	for _, c := range s.counts.ended {
		n += testutil.ToFloat64(c)
	}
	return n
}

func expectCounts(t *testing.T, s *Store, matched float64, waiting, deciding int) {
	t.Helper()
	b, err := s.Backlog(t.Context(), allShards)
	if err != nil {
		t.Fatal(err)
	}
	if got := testutil.ToFloat64(s.counts.matched); got != matched || b.Waiting != waiting || b.Deciding != deciding {
		t.Errorf("%v matched, %d waiting, %d deciding; want %v, %d, %d", got, b.Waiting, b.Deciding, matched, waiting, deciding)
	}
	if got := testutil.ToFloat64(s.counts.matched) - endedCount(s); got != float64(b.Waiting) {
		t.Errorf("matched minus ended is %v, and %d wait", got, b.Waiting)
	}
}

func TestReleaseUndecided(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		rule := save(t, s, masked("a"), flowURL("a")).ID
		accept(t, s, webhook("1", push("dev")))
		if n, err := s.ReleaseUndecided(t.Context(), allShards, time.Minute); err != nil || n != 0 {
			t.Errorf("released %d, %v before its time", n, err)
		}
		if n, err := s.ReleaseUndecided(t.Context(), allShards, 0); err != nil || n != 1 {
			t.Errorf("released %d, %v", n, err)
		}
		expectDeliveries(t, s, fmt.Sprintf("dev waiting [%d] %s", rule, notify.OverdueNote))
	})
}

func TestAMaskIsGivenUpUntilItIsEdited(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		other := New(s.db, s.box, s.log) // another node
		other.UsePlatforms(notify.Connections{{Name: "dc", Kind: "bitbucket-dc"}}, decoders)
		rule := save(t, s, masked("a"), flowURL("a"))
		for n := range notify.MaxMaskFailures {
			e := push("dev")
			if got := other.matchNow(t, &e); got.Open == 0 {
				t.Fatalf("the mask is not run any more after %d failures", n)
			}
			if err := s.FailMask(t.Context(), notify.NewMaskFailure(rule.ID, "branchMask", backtracking, branchmask.ErrBudget)); err != nil {
				t.Fatal(err)
			}
		}
		e := push("dev")
		if got := other.matchNow(t, &e); got.Open != 0 || got.Unanswered == 0 {
			t.Errorf("another node matches %+v", got)
		}
		accept(t, s, webhook("1", push("main")))
		if got := described(t, s); len(got) != 1 || !strings.Contains(got[0], "Sent although “Branch mask” of the rule “a”") {
			t.Errorf("deliveries: %v", got)
		}
		shown, err := s.Rule(t.Context(), rule.ID)
		if err != nil || !strings.Contains(shown.MaskError(), "3 times") || !strings.Contains(shown.MaskError(), "until you change it") {
			t.Errorf("the rule shows %q, %v", shown.MaskError(), err)
		}
		edit := shown.Rule
		edit.Name = "renamed"
		if kept := save(t, s, edit, ""); kept.MaskError() == "" {
			t.Error("another name made the mask run again")
		}
		edit.Version = 0
		edit.BranchMask = `(?!master$).*`
		if fresh := save(t, s, edit, ""); fresh.MaskError() != "" {
			t.Errorf("after an edit: %q", fresh.MaskError())
		}
		if got := other.matchNow(t, &e); got.Open == 0 {
			t.Errorf("the edited mask is not run: %+v", got)
		}
		if err := s.DeleteRule(t.Context(), ada, rule.ID, 0); err != nil {
			t.Fatal(err)
		}
		if n := count(t, s, `SELECT count(*) FROM notify_mask_failures`); n != 0 {
			t.Errorf("%d failures of a rule that is gone", n)
		}
		if err := s.FailMask(t.Context(), notify.NewMaskFailure(rule.ID, "branchMask", backtracking, branchmask.ErrBudget)); err != nil {
			t.Errorf("a failure of a rule that is gone: %v", err)
		}
	})
}

// matchNow matches an event as the node does while it commits it.
func (s *Store) matchNow(t *testing.T, e *notify.Event) notify.Match {
	t.Helper()
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	matches := s.Rules().Match(e, nil)
	if len(matches) != 1 {
		t.Fatalf("matches: %+v", matches)
	}
	return matches[0]
}

func TestDecisionsGoWithTheirEvent(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		rule := save(t, s, masked("a"), flowURL("a")).ID
		accept(t, s, webhook("1", push("dev")))
		settle(t, s, undecided(t, s)[0], notify.Decision{RuleID: rule, Member: "branchMask"})
		var n int64
		err := s.db.WriteBulk(t.Context(), func(tx *db.Tx) (err error) {
			n, err = DeleteEvents(t.Context(), tx, tx.Now().Add(time.Hour), 10)
			return err
		})
		if err != nil || n != 1 {
			t.Errorf("deleted %d, %v", n, err)
		}
		if left := count(t, s, `SELECT count(*) FROM notify_decisions`); left != 0 {
			t.Errorf("%d decisions are left", left)
		}
	})
}
