package store

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// Runs of several reports of one connection, each again and again, are stored
// with an event each: two that shared one would lose the second message.
func TestEveryRunHasItsOwnEvent(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		keep := keeper(t, s)
		var reports []notify.ReportInfo
		for _, repository := range []string{"canoe", "hull", "mast", "hull"} {
			r := someReport(repository)
			r.RepositoryKey = repository
			reports = append(reports, saveReport(t, s, r, flowURL(repository)))
		}
		seen := make(map[int64]bool)
		for day := range 3 {
			for _, r := range reports {
				if !keep(runAt(t, s, r.ID, reportDay.Add(time.Duration(24*day+9)*time.Hour), day)) {
					t.Fatalf("day %d: report %d was not kept", day, r.ID)
				}
			}
			for i, d := range waiting(t, s) {
				r := reports[len(reports)-1-i]
				if d.Event == nil || seen[d.EventID] || d.Event.Report.Report != r.ID || d.Event.Repository.Key != r.RepositoryKey || d.Event.Report.Open != day {
					t.Errorf("day %d: the message of report %d is %+v", day, r.ID, d)
				}
				seen[d.EventID] = true
			}
		}
		if want := 3 * len(reports); len(seen) != want {
			t.Errorf("%d events, want %d", len(seen), want)
		}
	})
}

// A run whose event is not stored is an error, and leaves nothing behind: a
// delivery without its event could never be sent.
func TestARunWithoutItsEventIsAnError(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		keep := keeper(t, s)
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		keep(runAt(t, s, info.ID, reportDay.Add(9*time.Hour), 1))
		run := runAt(t, s, info.ID, reportDay.Add(33*time.Hour), 2)
		run.Lease, run.Fence = hold(t, s)
		run.Due = reportDay.Add(9 * time.Hour)
		exec(t, s, `DELETE FROM notify_report_runs`) // only the event remembers the due time
		before := reportNow(t, s, info.ID)
		if kept, err := s.KeepRun(t.Context(), run); err == nil || kept {
			t.Errorf("it was kept: %t, %v", kept, err)
		}
		if now := reportNow(t, s, info.ID); !now.NextRunAt.Equal(before.NextRunAt) || !now.LastRunAt.Equal(before.LastRunAt) {
			t.Errorf("the report had its turn: %+v", now)
		}
		if n := count(t, s, `SELECT count(*) FROM notify_report_runs`); n != 0 || len(waiting(t, s)) != 1 {
			t.Errorf("%d runs and %d messages were left", n, len(waiting(t, s)))
		}
	})
}

// A row of events whose id is there already is an error too, and not taken for a
// webhook that came twice, nor its message for that of the other row.
func TestAnEventIsNotTakenForAnotherOfItsID(t *testing.T) {
	// On SQLite an id follows the highest there is.
	s := newStore(t, dbtest.Postgres(t, secret.Migrations, audit.Migrations, identity.Migrations, Migrations))
	save(t, s, someRule("one"), flowURL("a"))
	accept(t, s, webhook("one", *pushedTo("ATL", "canoe", "main", "ada")))
	exec(t, s, `ALTER TABLE notify_events ALTER COLUMN id RESTART WITH 1`) // as a restore without the sequence leaves it
	if err := s.Accept(t.Context(), webhook("two", *pushedTo("ATL", "canoe", "hull", "ada"))); err == nil {
		t.Error("it was acknowledged, and stored nowhere")
	}
	if n := len(waiting(t, s)); n != 1 {
		t.Errorf("%d messages wait", n)
	}
}

// The release before gave all runs of a connection one fingerprint, and stored
// none but the first. What it left behind keeps no new one out, and is told for
// what it is.
func TestReportsAfterTheReleaseThatSharedTheirEvents(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		keep := keeper(t, s)
		nine := reportDay.Add(9 * time.Hour)
		var reports []notify.ReportInfo
		for i := range 3 {
			info := saveReport(t, s, someReport(fmt.Sprint("stale ", i)), flowURL("a"))
			reports = append(reports, info)
			keep(runAt(t, s, info.ID, nine, 1))
		}
		list := waiting(t, s)
		shared := (&notify.Receipt{Connection: "dc"}).Fingerprint()
		exec(t, s, `DELETE FROM notify_events WHERE id <> $1`, list[2].EventID)
		exec(t, s, `UPDATE notify_events SET fingerprint = $1`, shared)
		exec(t, s, `UPDATE notify_deliveries SET event_id = 0 WHERE id <> $1`, list[2].ID)
		exec(t, s, `UPDATE notify_deliveries SET state = 'failed', reason = 'The stored event cannot be read.', finished_at = $1 WHERE id = $2`,
			db.Micros(nine), list[1].ID) // that of the third report still waits
		for _, info := range reports {
			keep(runAt(t, s, info.ID, nine.Add(24*time.Hour), 2))
		}
		after := waiting(t, s)
		for _, d := range after {
			if d.Event == nil || d.Event.Report.Open != 2 {
				t.Errorf("delivery %d is %+v", d.ID, d)
			}
		}
		if len(after) != len(reports) {
			t.Errorf("%d messages wait", len(after))
		}
	})
}

func exec(t *testing.T, s *Store, query string, args ...any) {
	t.Helper()
	if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), query, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
