package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// A repository that is renamed back and forth takes its own rules and reports
// along each time, and those of others stay.
func TestARenameAndBackAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		var rules, reports []int64
		for i, repository := range []string{"canoe", "canoe", "hull"} {
			r := someRule(fmt.Sprint("rule ", i))
			r.ProjectKey, r.RepositoryKey = "ATL", repository
			rules = append(rules, save(t, s, r, flowURL("a")).ID)
			report := someReport(fmt.Sprint("report ", i))
			report.RepositoryKey = repository
			reports = append(reports, saveReport(t, s, report, flowURL("a")).ID)
		}
		from := "canoe"
		for turn, to := range []string{"proa", "canoe", "proa", "canoe"} {
			accept(t, s, webhook(fmt.Sprint("rename ", turn), *repositoryRenamed("ATL", from, to)))
			for i, want := range []string{to, to, "hull"} {
				rule, err := s.Rule(t.Context(), rules[i])
				if err != nil || rule.RepositoryKey != want {
					t.Errorf("turn %d: rule %d is of %s, want %s, %v", turn, i, rule.RepositoryKey, want, err)
				}
				if report := reportNow(t, s, reports[i]); report.RepositoryKey != want {
					t.Errorf("turn %d: report %d is of %s, want %s", turn, i, report.RepositoryKey, want)
				}
			}
			before := len(waiting(t, s))
			accept(t, s, webhook(fmt.Sprint("push ", turn), *pushedTo("ATL", to, "main", "ada")))
			accept(t, s, webhook(fmt.Sprint("old push ", turn), *pushedTo("ATL", from, "main", "ada")))
			if n := len(waiting(t, s)) - before; n != 1 {
				t.Errorf("turn %d: %d messages for a push to the new name and one to the old", turn, n)
			}
			from = to
		}
	})
}

// Each rotation of several hooks changes one: its last two secrets hold, those
// before and those of the other hooks are not touched.
func TestRotatingAgainAndAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		secrets := make(map[string][]string)
		for i := range 4 {
			name := fmt.Sprint("hook-", i)
			secrets[name] = []string{hookOf(t, s, name, "ATL", fmt.Sprint("canoe-", i)).Secret.Reveal()}
		}
		for turn := range 5 {
			name := fmt.Sprint("hook-", turn%2)
			rotated, err := s.RotateHook(t.Context(), ada, "dc", name)
			if err != nil {
				t.Fatal(err)
			}
			secrets[name] = append(secrets[name], rotated.Secret.Reveal())
			for name, all := range secrets {
				h, _ := newStore(t, s.db).Platforms().Hook("dc", name)
				var holds []string
				for _, key := range h.Secrets(time.Now()) {
					holds = append(holds, key.Reveal())
				}
				slices.Sort(holds)
				if want := slices.Sorted(slices.Values(all[max(0, len(all)-2):])); !slices.Equal(holds, want) {
					t.Errorf("turn %d: %d secrets of %s hold, want %d", turn, len(holds), name, len(want))
				}
			}
		}
	})
}

// A message that is delivered and put back again and again keeps every attempt,
// and those of the others are not among them.
func TestRedeliveringAgainAndAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 3)
		states := []notify.DeliveryState{notify.Delivered, notify.Failed, notify.Delivered, notify.Delivered, notify.Failed, notify.Delivered}
		for turn, state := range states {
			for n, d := range waiting(t, s) {
				at := time.Date(2026, 11, 20, 9, turn, n, 0, time.UTC)
				if err := s.SaveResult(t.Context(), &notify.Result{
					Deliveries: []*notify.Delivery{d}, State: state, Lease: name, Fence: fence,
					Attempt: &work.Attempt{At: at, Took: time.Millisecond, Status: 200 + turn}, Counts: true,
				}); err != nil {
					t.Fatal(err)
				}
			}
			if turn == len(states)-1 {
				break
			}
			if done, err := s.Redeliver(t.Context(), ada, ids); err != nil || done.Done != len(ids) {
				t.Fatal(done, err)
			}
		}
		for _, id := range ids {
			_, attempts, err := s.Delivery(t.Context(), id)
			var got []int
			for _, a := range attempts {
				got = append(got, a.Status-200)
			}
			if err != nil || !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
				t.Errorf("delivery %d has the attempts %v, %v", id, got, err)
			}
		}
	})
}

// A message that moves to another channel while it is under way is tried on both:
// neither attempt takes the place of the other, and one that is kept twice, since
// its commit was not heard of, is one.
func TestAttemptsOnTwoChannels(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		rule := save(t, s, someRule("one"), flowURL("a"))
		acceptMany(t, s, 2)
		result := func(d *notify.Delivery, status int) *notify.Result {
			return &notify.Result{
				Deliveries: []*notify.Delivery{d}, State: notify.Waiting, Lease: name, Fence: fence, Counts: true,
				Attempt: &work.Attempt{At: time.Date(2026, 11, 20, 9, 0, status, 0, time.UTC), Status: status},
			}
		}
		before := waiting(t, s)
		save(t, s, rule.Rule, flowURL("b"))
		var all []*notify.Result
		for i, d := range before {
			all = append(all, result(d, 500+i))
		}
		for i, d := range waiting(t, s) {
			all = append(all, result(d, 510+i))
		}
		for _, r := range append(all, all[0], all[3]) {
			if err := s.SaveResult(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		for i, d := range before {
			_, attempts, err := s.Delivery(t.Context(), d.ID)
			if err != nil || len(attempts) != 2 || attempts[0].Status != 500+i || attempts[1].Status != 510+i {
				t.Errorf("delivery %d has the attempts %+v, %v", d.ID, attempts, err)
			}
		}
	})
}
