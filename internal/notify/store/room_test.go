package store

import (
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// Who administers one repository cannot slow down the commits of everyone's
// events by ever more rules there, nor the platform by reports.
func TestAPlaceHasRoomForSoManyRulesAndReports(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		rule := someRule("mine")
		rule.ProjectKey, rule.RepositoryKey = "SHOP", "api"
		first := save(t, s, rule, flowURL("a"))
		report := someReport("mine")
		report.ProjectKey, report.RepositoryKey = "SHOP", "api"
		firstReport := saveReport(t, s, report, flowURL("a"))
		if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
			for range notify.MaxRulesAt - 2 {
				r := first.Rule
				if err := insertRule(t.Context(), tx, &r); err != nil {
					return err
				}
			}
			for range notify.MaxReportsAt - 2 {
				r := firstReport.Report
				if err := insertReport(t.Context(), tx, &r); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		save(t, s, rule, flowURL("a")) // the last that there is room for
		saveReport(t, s, report, flowURL("a"))
		rule.ProjectKey = "shop" // keys are compared without case
		if _, err := s.SaveRule(t.Context(), ada, rule, flowURL("b")); !fault.Is(err, fault.Conflict) {
			t.Errorf("one rule more: %v", err)
		}
		if _, err := s.SaveReport(t.Context(), ada, report, flowURL("b"), time.Now()); !fault.Is(err, fault.Conflict) {
			t.Errorf("one report more: %v", err)
		}
		for name, at := range map[string]notify.RepositoryRef{"another repository": {ProjectKey: "SHOP", RepositoryKey: "web"}, "the project": {ProjectKey: "SHOP"}, "global": {}} {
			rule.ProjectKey, rule.RepositoryKey = at.ProjectKey, at.RepositoryKey
			if _, err := s.SaveRule(t.Context(), ada, rule, flowURL("a")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		first.Rule.Name = "still to be saved"
		if _, err := s.SaveRule(t.Context(), ada, first.Rule, ""); err != nil {
			t.Errorf("a rule that is there: %v", err)
		}
	})
}
