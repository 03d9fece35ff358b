package store

import (
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// A conflict says what every save since changed, by whom and when.
func TestAConflictSaysWhatChanged(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		read := save(t, s, someRule("builds"), flowURL("a"))
		change := func(who string, url string, f func(*notify.Rule)) notify.RuleInfo {
			t.Helper()
			now, err := s.Rule(t.Context(), read.ID)
			if err != nil {
				t.Fatal(err)
			}
			r := now.Rule
			f(&r)
			saved, err := s.SaveRule(t.Context(), notify.Actor{Name: who}, r, url)
			if err != nil {
				t.Fatal(err)
			}
			return saved
		}
		second := change("grace", "", func(r *notify.Rule) { r.Branches, r.Users = []string{"main"}, []string{"ada"} })
		third := change("joan", flowURL("b"), func(r *notify.Rule) {
			r.Branches, r.BranchMask = nil, "release/.*"
			r.QuietHours = &notify.QuietHours{From: "22:00", To: "06:00", TimeZone: "UTC"}
		})
		at := func(i notify.RuleInfo) string { return i.UpdatedAt.UTC().Format("2006-01-02T15:04:05Z") }
		mine := read.Rule
		mine.Name = "mine"
		for version, want := range map[int64]string{
			1: "is at version 3: grace changed branches, users at " + at(second) + "; joan changed branchMask, branches, quietHours, webhookUrl at " + at(third) + ". Reload",
			2: "is at version 3: joan changed branchMask, branches, quietHours, webhookUrl at " + at(third) + ". Reload",
			9: "is at version 3: joan saved it at " + at(third) + ". Reload",
		} {
			mine.Version = version
			if _, err := s.SaveRule(t.Context(), ada, mine, ""); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), want) {
				t.Errorf("version %d: %v, want %s", version, err, want)
			}
		}
		if now, _ := s.Rule(t.Context(), read.ID); now.Version != 3 || now.Name != "builds" {
			t.Errorf("a refused save left %+v", now.Rule)
		}
		for range 7 {
			change("ada", "", func(r *notify.Rule) { r.Enabled = !r.Enabled })
		}
		mine.Version = 1
		_, err := s.SaveRule(t.Context(), ada, mine, "")
		if err == nil || !strings.Contains(err.Error(), "version 10: 4 earlier saves; ada changed enabled at ") || strings.Count(err.Error(), "ada changed") != 5 {
			t.Errorf("after nine saves: %v", err)
		}
	})
}

func TestARuleIsSwitchedOnAndOff(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := save(t, s, someRule("builds"), flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		// Also one that could not be saved as it is.
		damage(t, s, `UPDATE notify_rules SET name = '', version = 2 WHERE id = $1`, r.ID)
		off, err := s.EnableRule(t.Context(), notify.Actor{Name: "grace"}, r.ID, 0, false, 0)
		if err != nil || off.Enabled || off.Version != 3 || off.UpdatedBy != "grace" {
			t.Errorf("switched off: %+v, %v", off.Rule, err)
		}
		if left := waiting(t, s); len(left) != 0 {
			t.Errorf("%d messages wait for a rule that is off", len(left))
		}
		accept(t, s, webhook("w2", *pushedTo("ATL", "canoe", "main", "ada")))
		again, err := s.EnableRule(t.Context(), ada, r.ID, 0, false, 0)
		if err != nil || again.Version != 3 {
			t.Errorf("switched off twice it is at version %d: %v", again.Version, err)
		}
		if on, err := s.EnableRule(t.Context(), ada, r.ID, 0, true, 0); err != nil || !on.Enabled {
			t.Errorf("switched on: %+v, %v", on.Rule, err)
		}
		accept(t, s, webhook("w3", *pushedTo("ATL", "canoe", "main", "ada")))
		if left := waiting(t, s); len(left) != 1 {
			t.Errorf("%d messages wait, want the one since it is on again", len(left))
		}
		if _, err := s.EnableRule(t.Context(), ada, 999, 0, true, 0); !fault.Is(err, fault.NotFound) {
			t.Errorf("a rule that is not there: %v", err)
		}
	})
}
