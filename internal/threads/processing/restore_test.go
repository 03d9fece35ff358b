package processing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/threadstest"
)

// backup is a file of what the target has now.
func (r *rig) backup() string {
	r.t.Helper()
	var out bytes.Buffer
	maps, err := r.store.Snapshot(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	defer maps.Close(context.Background())
	if err := format.WriteBackup(context.Background(), &out, r.store.Target(), maps.At, maps); err != nil {
		r.t.Fatal(err)
	}
	return out.String()
}

// backupOf is a file of some maps.
func (r *rig) backupOf(list map[int64]threads.ParentMap) string {
	r.t.Helper()
	var out bytes.Buffer
	w, err := format.NewBackupWriter(&out, r.store.Target(), time.Now())
	for _, issue := range slices.Sorted(maps.Keys(list)) {
		if err == nil {
			err = w.Add(issue, list[issue])
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return out.String()
}

// restore begins to restore a backup.
func (r *rig) restore(mode threads.RestoreMode, file string) {
	r.t.Helper()
	in, err := format.NewBackupReader(bytes.NewReader([]byte(file)))
	for err == nil {
		_, err = in.Next()
	}
	if !errors.Is(err, io.EOF) {
		r.t.Fatal(err)
	}
	job := threads.RestoreJob{Mode: mode, Upload: r.sendFile(threads.BackupFile, file), Issues: in.Trailer.Issues}
	if err := r.store.BeginRestore(r.t.Context(), job); err != nil {
		r.t.Fatal(err)
	}
}

// job waits until a job is over.
func (r *rig) job(name string, detail any) threads.Job {
	r.t.Helper()
	for until := time.Now().Add(r.patience); ; {
		j, err := r.store.Job(r.t.Context(), name)
		if err != nil {
			r.t.Fatal(err)
		}
		if err := j.Read(detail); err != nil {
			r.t.Fatal(err)
		}
		if j.State != threads.JobRunning {
			return j
		}
		if time.Now().After(until) {
			r.t.Fatal(fmt.Sprintf("the job goes on: %+v", j))
		}
		select {
		case <-r.moved:
		case <-time.After(r.patience / 1000):
		}
	}
}

// restored waits until a restore is over, and done.
func (r *rig) restored() threads.RestoreJob {
	r.t.Helper()
	var detail threads.RestoreJob
	if j := r.job(threads.JobRestore, &detail); j.State != threads.JobDone {
		r.t.Fatal(fmt.Sprintf("the restore ends as %+v", j))
	}
	return detail
}

// both runs fn with the database as the target and with another, on both
// databases.
func both(t *testing.T, fn func(t *testing.T, r *rig)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for name, target := range map[string]*memory{"embedded": nil, "target": newMemory(nil)} {
			t.Run(name, func(t *testing.T) {
				r := newRig(t, d, target)
				defer r.end()
				fn(t, r)
				// What is done with is deleted, the uploads of backups too.
				if list, err := r.store.Uploads.List(t.Context()); err != nil || len(list) > 0 {
					t.Error(list, err)
				}
				if r.migration().Phase != threads.PhaseEmpty {
					r.operate(threads.OpReset)
				}
			})
		}
	}, schema...)
}

// What was backed up is there again after a reset and other migrations.
func TestBackupResetRestore(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.work()
		records, mappings := threadstest.Many(600, 2)
		r.do(records, mappings)
		before, file := r.stored(), r.backup()
		r.operate(threads.OpReset)

		// Other parents for the same comments, and other issues.
		others, more := threadstest.Many(700, 2)
		for i := range others {
			if others[i].ParentCommentID%2 == 1 && i+1 < len(others) && others[i+1].IssueID == others[i].IssueID {
				others[i].ParentCommentID, others[i+1].ParentCommentID = others[i+1].CommentID, others[i].ParentCommentID
			}
		}
		r.do(others, more)
		after := r.stored()
		if maps.EqualFunc(before, after, slices.Equal) || len(after) <= len(before) {
			t.Fatal("nothing was changed")
		}
		r.operate(threads.OpReset)

		r.restore(threads.RestoreMerge, file)
		if d := r.restored(); d.Done != int64(len(before)) || d.Issues != d.Done {
			t.Errorf("%+v", d)
		}
		want := maps.Clone(after)
		for issue, m := range before {
			want[issue] = want[issue].Merge(m)
		}
		r.holds(want)

		r.restore(threads.RestoreReplace, file)
		r.restored()
		r.holds(before)
	})
}

// A restore goes on where a killed worker was, or one that lost its lease, and
// where the database was away.
func TestRestoreGoesOn(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		if r.target != nil {
			r.target.answers(func(int, int64) error { <-time.After(rand.N(100 * time.Microsecond)); return nil })
		}
		before, want := map[int64]threads.ParentMap{}, map[int64]threads.ParentMap{}
		for i := int64(1); i <= 1500; i++ {
			before[2*i] = threads.ParentMap{{CommentID: i, ParentID: 7}}
			want[3*i] = threads.ParentMap{{CommentID: i, ParentID: 8}}
		}
		r.work()
		r.restore(threads.RestoreReplace, r.backupOf(before))
		r.restored()
		r.holds(before)
		r.restore(threads.RestoreReplace, r.backupOf(want))
		for n := range 6 {
			<-time.After(rand.N(40 * time.Millisecond))
			last := r.workers[len(r.workers)-1]
			r.work()
			if n%2 == 0 {
				last.Stop() // the others do not know
			}
		}
		if d := r.restored(); d.Done != 1500 {
			t.Errorf("%+v", d)
		}
		r.holds(want)
	})
}

// What the target does not have, or forbids, is counted, and an issue of the
// backup that it forbids is not one to remove.
func TestRestoreRefused(t *testing.T) {
	quick(t, func(t *testing.T, d *db.DB) {
		state := "first"
		target := newMemory(nil)
		r := newRig(t, d, target)
		defer r.end()
		r.work()
		old := threads.ParentMap{{CommentID: 1, ParentID: 2}}
		r.restore(threads.RestoreMerge, r.backupOf(map[int64]threads.ParentMap{1: old, 2: old, 3: old, 4: old}))
		r.restored()
		target.answer = func(n int, issue int64) error {
			switch {
			case issue == 2 && state == "first":
				state = "then"
				return &threads.TargetError{Kind: threads.TargetForbids}
			case issue == 3:
				return &threads.TargetError{Kind: threads.TargetMissing}
			}
			return nil
		}
		news := threads.ParentMap{{CommentID: 5, ParentID: 6}}
		r.restore(threads.RestoreReplace, r.backupOf(map[int64]threads.ParentMap{1: news, 2: news, 3: news}))
		var detail threads.RestoreJob
		j := r.job(threads.JobRestore, &detail)
		if want := "The target does not have 2 of the issues, or does not let them be written."; j.State != threads.JobDone || j.Message != want || detail.Refused != 2 {
			t.Errorf("%+v", j)
		}
		if got := r.stored(); !maps.EqualFunc(got, map[int64]threads.ParentMap{1: news, 2: old}, slices.Equal) {
			t.Error(got)
		}
		if got := target.all(); !slices.Equal(got[2], old) || len(got[4]) > 0 {
			t.Error(got)
		}
	})
}

// A target that does not answer any more ends a restore with a sentence.
func TestRestoreFails(t *testing.T) {
	quick(t, func(t *testing.T, d *db.DB) {
		target := newMemory(func(int, int64) error { return limited(time.Minute) })
		r := newRig(t, d, target)
		r.patience = 100 * time.Hour
		defer r.end()
		r.work()
		r.restore(threads.RestoreMerge, r.backupOf(map[int64]threads.ParentMap{1: {{CommentID: 1, ParentID: 2}}}))
		var detail threads.RestoreJob
		j := r.job(threads.JobRestore, &detail)
		if j.State != threads.JobFailed || detail.Pace.RateLimits != 10 {
			t.Errorf("%+v", j)
		}
		if list := r.stored(); len(list) > 0 || len(target.all()) > 0 {
			t.Error(list)
		}
	})
}

// While maps are written, a backup has them as they were at one moment.
func TestBackupWhileProcessing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := newRig(t, d, nil)
		r.options.ChunkSize = 100
		defer r.end()
		r.work()
		records, mappings := threadstest.Many(3000, 2)
		r.load(records, mappings)
		r.await(threads.PhaseReady)
		r.operate(threads.OpStart)
		order := slices.Collect(func(yield func(int64) bool) { // the cloud issues as they are processed
			for _, m := range mappings {
				if m.EntityType == threads.EntityIssue && !yield(m.CloudID) {
					return
				}
			}
		})
		for n := 0; ; n++ {
			over := r.migration().Phase == threads.PhaseCompleted
			list := r.stored()
			for i, issue := range order {
				if (list[issue] != nil) != (i < len(list)) {
					t.Fatalf("the backup has %d issues, and issue %d is not as it was then", len(list), i)
				}
			}
			if over {
				break
			}
		}
	}, schema...)
}

// verify counts what is in the target as it should be, what is not, and what is
// there with another parent.
func TestVerify(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.work()
		records, mappings := threadstest.Many(2400, 3)
		records = append(records, threads.Record{IssueID: 1, CommentID: 1, ParentCommentID: 2}) // an error: none to look for
		r.do(records, mappings)
		if v := r.verify(false); v.Relations != 2400 || v.Present != 2400 || v.Missing+v.Different != 0 || len(v.First) > 0 || v.Issues != 801 {
			t.Errorf("%+v", v)
		}
		before, _ := r.store.Job(t.Context(), threads.JobVerify)
		r.verify(false)
		if again, _ := r.store.Job(t.Context(), threads.JobVerify); again.Epoch != before.Epoch {
			t.Error("nothing has changed, and it is compared again")
		}

		damaged := r.stored()
		for n, issue := range slices.Sorted(maps.Keys(damaged))[:150] {
			m := slices.Clone(damaged[issue])
			switch {
			case n < 50:
				delete(damaged, issue)
				continue
			case n < 100:
				m = m[1:]
			default:
				m[0].ParentID = 5
				m = append(m, threads.Relation{CommentID: 1 << 40, ParentID: 6}) // another program's
			}
			damaged[issue] = m
		}
		r.restore(threads.RestoreReplace, r.backupOf(damaged))
		r.restored()
		v := r.verify(false)
		if v.Relations != 2400 || v.Present != 2400-50*3-50-50 || v.Missing != 50*3+50 || v.Different != 50 || len(v.First) != threads.MaxListed {
			t.Errorf("%+v", v)
		}
		if first := v.First[0]; first.Expected == 0 || first.Found != 0 || !slices.IsSortedFunc(v.First, func(a, b threads.Difference) int { return int(a.CloudIssueID - b.CloudIssueID) }) {
			t.Errorf("%+v", v.First)
		}
		// And it goes on after a worker died.
		if _, err := r.store.Verify(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		last := r.workers[len(r.workers)-1]
		r.work()
		last.Stop()
		var again threads.VerifyJob
		if r.job(threads.JobVerify, &again); again.Present != v.Present || again.Missing != v.Missing || again.Different != v.Different || again.Issues != 801 {
			t.Errorf("%+v", again)
		}
	})
}

// verify waits for a comparison.
func (r *rig) verify(again bool) (v threads.VerifyJob) {
	r.t.Helper()
	if _, err := r.store.Verify(context.Background(), again); err != nil {
		r.t.Fatal(err)
	}
	if j := r.job(threads.JobVerify, &v); j.State != threads.JobDone {
		r.t.Fatal(fmt.Sprintf("%+v", j))
	}
	return v
}
