package store

import (
	"context"
	"sync"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// Of two things that exclude each other, asked of two nodes at once, one is done and
// the other is a conflict.
func TestWhatExcludesEachOtherOnTwoNodes(t *testing.T) {
	url := dbtest.PostgresURL(t, schema...)
	open := func(node string) (*db.DB, *Store) {
		d := dbtest.Open(t, db.Options{URL: url, NodeID: node})
		if err := d.Migrate(t.Context(), schema...); err != nil {
			t.Fatal(err)
		}
		return d, opened(t, d)
	}
	d, one := open("node_1")
	_, two := open("node_2")
	const restore threads.Operation = "restore"
	for _, c := range []struct {
		phase threads.Phase
		ops   [2]threads.Operation
	}{
		{threads.PhaseReady, [2]threads.Operation{threads.OpStart, restore}},
		{threads.PhaseReady, [2]threads.Operation{threads.OpStart, threads.OpReset}},
		{threads.PhasePaused, [2]threads.Operation{threads.OpContinue, threads.OpUndo}},
		{threads.PhasePaused, [2]threads.Operation{threads.OpContinue, threads.OpReset}},
		{threads.PhasePaused, [2]threads.Operation{threads.OpUndo, threads.OpReset}},
		{threads.PhasePaused, [2]threads.Operation{threads.OpContinue, restore}},
		{threads.PhaseCompleted, [2]threads.Operation{threads.OpUndo, restore}},
	} {
		for range 3 {
			stand(t, d, one, c.phase)
			backup := ready(t, d, one)
			ask := func(s *Store, op threads.Operation) error {
				if op == restore {
					return s.BeginRestore(context.Background(), threads.RestoreJob{Mode: threads.RestoreMerge, Upload: backup})
				}
				_, err := s.Operate(context.Background(), op, threads.Wish{})
				return err
			}
			var errs [2]error
			var both sync.WaitGroup
			for i, s := range []*Store{one, two} {
				both.Go(func() { errs[i] = ask(s, c.ops[i]) })
			}
			both.Wait()
			if won := errs[0] == nil; won == (errs[1] == nil) || won && !fault.Is(errs[1], fault.Conflict) || !won && !fault.Is(errs[0], fault.Conflict) {
				t.Errorf("%s: %s gives %v, %s gives %v", c.phase, c.ops[0], errs[0], c.ops[1], errs[1])
			}
		}
	}
}

// ready has something to undo, no restore under way, and a backup to restore.
func ready(t *testing.T, d *db.DB, s *Store) (backup int64) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		if err := dropJob(t.Context(), tx, threads.JobRestore); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `UPDATE threads_migration SET parent_maps = 1`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	draft(t, s, threads.BackupFile, "backup")
	u, err := s.Uploads.Draft(t.Context(), threads.BackupFile)
	if err != nil {
		t.Fatal(err)
	}
	return u.ID
}
