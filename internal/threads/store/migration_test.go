package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// stand puts the migration into a phase that some data is in.
func stand(t *testing.T, d *db.DB, s *Store, phase threads.Phase) {
	t.Helper()
	if m, err := s.Migration(t.Context()); err != nil {
		t.Fatal(err)
	} else if m.Phase == threads.PhaseProcessing {
		operate(t, s, threads.OpCancel)
	}
	operate(t, s, threads.OpReset)
	if phase == threads.PhaseEmpty {
		return
	}
	draft(t, s, threads.HierarchyFile, `[{"issueId":1,"commentId":2,"parentCommentId":3}]`)
	draft(t, s, threads.MappingsFile, "entityType,serverId,cloudId\njira:issue,1,10\njira:comment,2,20\njira:comment,3,30\n")
	m := operate(t, s, threads.OpUpload)
	if phase == threads.PhaseLoading {
		return
	}
	stage(t, d, s, m.Stage)
	set := `phase = $1`
	if phase == threads.PhaseCompleted {
		set += `, records_done = 1, chunks_done = 1`
	}
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE threads_migration SET `+set, string(phase))
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// stage does what a worker does with the files of stand.
func stage(t *testing.T, d *db.DB, s *Store, id int64) {
	t.Helper()
	leases := db.NewLeases(d, "node_1", nil)
	if err := leases.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer leases.Stop()
	lease, err := leases.Acquire(t.Context(), "threads/staging/00")
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.ClaimStage(t.Context(), lease)
	if err != nil || st == nil || st.ID != id {
		t.Fatalf("the stage %+v is claimed, %v", st, err)
	}
	w := s.StageWriter(st, lease)
	c := &threads.Chunk{}
	c.Add(threads.IssueEntries{IssueID: 1, CloudIssueID: 10, Entries: []threads.Entry{{CommentID: 2, ParentCommentID: 3, CloudCommentID: 20, CloudParentID: 30}}})
	if err := w.WriteChunks(t.Context(), []*threads.Chunk{c}); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(t.Context(), &threads.Preview{Records: 1, Issues: 1}, nil); err != nil {
		t.Fatal(err)
	}
}

func draft(t *testing.T, s *Store, kind, content string) {
	t.Helper()
	u, err := s.Uploads.Replace(t.Context(), threads.Upload{Kind: kind, Length: int64(len(content))})
	if err == nil {
		_, err = s.Uploads.Append(t.Context(), u.ID, 0, strings.NewReader(content))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func operate(t *testing.T, s *Store, op threads.Operation) threads.Migration {
	t.Helper()
	m, err := s.Operate(t.Context(), op, threads.Wish{Drafts: sent(t, s, op)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// loadedFiles names the files of the data, where an upload is to go on with them.
func loadedFiles(t *testing.T, s *Store, op threads.Operation, stage int64) threads.Drafts {
	t.Helper()
	if op != threads.OpUpload || stage == 0 {
		return threads.Drafts{}
	}
	st, err := s.Stage(t.Context(), stage)
	if err != nil {
		t.Fatal(err)
	}
	return st.Drafts()
}

// sent names the files that an upload is to load, which nothing has read yet.
func sent(t *testing.T, s *Store, op threads.Operation) (d threads.Drafts) {
	t.Helper()
	if op != threads.OpUpload {
		return d
	}
	list, err := s.Uploads.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return threadstest.Sent(list)
}

func opened(t *testing.T, d *db.DB) *Store {
	t.Helper()
	s := New(d, threads.EmbeddedTarget)
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

var schema = []db.Migrations{audit.Migrations, Migrations}

// operations is the table of what each operation does in each phase: where it
// leads, or "" for a conflict. It is written out here once more on purpose.
var operations = map[threads.Operation]map[threads.Phase]threads.Phase{
	// The drafts are taken already where it is LOADING, and gone where it is
	// READY; TestUpload sends others.
	threads.OpUpload: {threads.PhaseLoading: threads.PhaseLoading},
	threads.OpStart:  {threads.PhaseReady: threads.PhaseProcessing},
	threads.OpStop:   {threads.PhaseProcessing: threads.PhasePaused},
	threads.OpContinue: {
		threads.PhasePaused: threads.PhaseProcessing,
		threads.PhaseFailed: threads.PhaseProcessing,
	},
	threads.OpCancel: {
		threads.PhaseLoading:    threads.PhaseCancelled,
		threads.PhaseReady:      threads.PhaseCancelled,
		threads.PhasePaused:     threads.PhaseCancelled,
		threads.PhaseProcessing: threads.PhaseCancelled,
		threads.PhaseFailed:     threads.PhaseCancelled,
	},
	threads.OpReset: {
		threads.PhaseEmpty:     threads.PhaseEmpty,
		threads.PhaseLoading:   threads.PhaseEmpty,
		threads.PhaseReady:     threads.PhaseEmpty,
		threads.PhasePaused:    threads.PhaseEmpty,
		threads.PhaseCompleted: threads.PhaseEmpty,
		threads.PhaseFailed:    threads.PhaseEmpty,
		threads.PhaseCancelled: threads.PhaseEmpty,
	},
}

// Every operation in every phase does what the table says, or is a conflict
// that names the status and what is allowed, and changes nothing.
func TestOperations(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := opened(t, d)
		for _, phase := range threads.Phases() {
			for _, op := range threads.Operations() {
				t.Run(fmt.Sprintf("%s/%s", phase, op), func(t *testing.T) {
					stand(t, d, s, phase)
					checkOperation(t, s, phase, op)
				})
			}
		}
	}, schema...)
}

func checkOperation(t *testing.T, s *Store, phase threads.Phase, op threads.Operation) {
	t.Helper()
	before, err := s.Migration(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := operations[op][phase]
	given, err := s.Operate(t.Context(), op, threads.Wish{Drafts: loadedFiles(t, s, op, before.Stage)})
	after, readErr := s.Migration(t.Context())
	switch {
	case readErr != nil:
		t.Fatal(readErr)
	case want != "":
		if err != nil || given.Phase != want || after.Phase != want || after.Epoch <= before.Epoch {
			t.Errorf("it leads to %s, then %+v: %v", given.Phase, after, err)
		}
	case !fault.Is(err, fault.Conflict):
		t.Errorf("it gives %v", err)
	case !reflect.DeepEqual(after, before):
		t.Errorf("it changes %+v to %+v", before, after)
	case !slices.Contains(before.Allowed(), op):
		status := string(phase.Status())
		if status == string(threads.Idle) {
			status += ", " + string(phase)
		}
		if sentence := err.Error(); !strings.Contains(sentence, "The migration is "+status+", which does not allow "+string(op)) {
			t.Error(sentence)
		}
		for _, allowed := range before.Allowed() {
			if list := strings.SplitAfter(err.Error(), "allowed are: ")[1]; !strings.Contains(list, string(allowed)) {
				t.Errorf("%s does not name %s", err, allowed)
			}
		}
	}
}

// upload replaces what is there where no processing has begun, and is a
// conflict elsewhere; without drafts it says so.
func TestUpload(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := opened(t, d)
		for _, phase := range threads.Phases() {
			stand(t, d, s, phase)
			before, err := s.Migration(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			draft(t, s, threads.HierarchyFile, `[]`)
			if _, err := s.Operate(t.Context(), threads.OpUpload, threads.Wish{Drafts: sent(t, s, threads.OpUpload)}); !fault.Is(err, fault.Conflict) && phase != threads.PhaseLoading {
				t.Errorf("%s: with one draft upload gives %v", phase, err)
			}
			draft(t, s, threads.MappingsFile, threads.MappingHeader)
			after, err := s.Operate(t.Context(), threads.OpUpload, threads.Wish{Drafts: sent(t, s, threads.OpUpload)})
			if slices.Contains([]threads.Phase{threads.PhaseEmpty, threads.PhaseLoading, threads.PhaseReady}, phase) {
				if err != nil || after.Phase != threads.PhaseLoading || after.Stage == before.Stage {
					t.Errorf("%s: upload leads to %+v, %v", phase, after, err)
				}
			} else if !fault.Is(err, fault.Conflict) {
				t.Errorf("%s: upload leads to %+v, %v", phase, after, err)
			}
		}
	}, schema...)
}

// reset forgets drafts, data and progress; the written maps stay.
func TestResetForgets(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := opened(t, d)
		stand(t, d, s, threads.PhaseCompleted)
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			w, err := s.writeMaps(t.Context(), tx)
			if err == nil {
				err = w.put(t.Context(), []threads.IssueMap{{CloudIssueID: 10, Parents: threads.ParentMap{{CommentID: 20, ParentID: 30}}}})
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		draft(t, s, threads.HierarchyFile, `[]`)
		m := operate(t, s, threads.OpReset)
		if !reflect.DeepEqual(m, threads.Migration{Phase: threads.PhaseEmpty, Epoch: m.Epoch, UpdatedAt: m.UpdatedAt}) {
			t.Errorf("%+v", m)
		}
		if drafts, err := s.Uploads.List(t.Context()); err != nil || len(drafts) > 0 {
			t.Error(drafts, err)
		}
		if parents, err := s.Map(t.Context(), 10); err != nil || len(parents) != 1 {
			t.Error(parents, err)
		}
		leases := db.NewLeases(d, "node_1", nil)
		if err := leases.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer leases.Stop()
		lease, err := leases.Acquire(t.Context(), "threads/processing/00")
		for more := true; more && err == nil; {
			more, err = s.Sweep(t.Context(), lease)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"threads_stages", "threads_stage_pages", "threads_chunks", "threads_before", "threads_uploads", "threads_upload_rows"} {
			if err := d.Read(t.Context(), func(tx *db.Tx) error {
				var n int64
				err := tx.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n)
				if n > 0 {
					t.Errorf("%d rows are left of %s", n, table)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}, schema...)
}

// Of two who start at once, one wins.
func TestTwoStarts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := opened(t, d)
		for _, c := range []struct {
			phase threads.Phase
			op    threads.Operation
		}{{threads.PhaseReady, threads.OpStart}, {threads.PhasePaused, threads.OpContinue}, {threads.PhaseProcessing, threads.OpStop}} {
			stand(t, d, s, c.phase)
			errs := make([]error, 8)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() { _, errs[i] = s.Operate(context.Background(), c.op, threads.Wish{}) })
			}
			all.Wait()
			won := 0
			for _, err := range errs {
				switch {
				case err == nil:
					won++
				case !fault.Is(err, fault.Conflict):
					t.Error(err)
				}
			}
			if won != 1 {
				t.Errorf("%d of %d %ss win", won, len(errs), c.op)
			}
		}
	}, schema...)
}

// A restore and the migration do not run at the same time.
func TestRestoreExcludesProcessing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := opened(t, d)
		for _, phase := range threads.Phases() {
			stand(t, d, s, phase)
			draft(t, s, threads.BackupFile, "backup")
			u, err := s.Uploads.Draft(t.Context(), threads.BackupFile)
			if err != nil {
				t.Fatal(err)
			}
			err = s.BeginRestore(t.Context(), threads.RestoreJob{Mode: threads.RestoreMerge, Upload: u.ID})
			if phase == threads.PhaseProcessing {
				if !fault.Is(err, fault.Conflict) {
					t.Errorf("%s: %v", phase, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(phase, err)
			}
			for _, op := range []threads.Operation{threads.OpStart, threads.OpContinue} {
				if _, err := s.Operate(t.Context(), op, threads.Wish{}); !fault.Is(err, fault.Conflict) {
					t.Errorf("%s: %s while a backup is restored gives %v", phase, op, err)
				}
			}
			if err := s.BeginRestore(t.Context(), threads.RestoreJob{}); !fault.Is(err, fault.Conflict) {
				t.Errorf("%s: a second restore gives %v", phase, err)
			}
			if err := d.Write(t.Context(), func(tx *db.Tx) error { return dropJob(t.Context(), tx, threads.JobRestore) }); err != nil {
				t.Fatal(err)
			}
		}
	}, schema...)
}
