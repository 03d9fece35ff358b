package processing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"outrigger/internal/db"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

// restoreSlice is how many maps go into one commit.
const restoreSlice = 250

// restore writes a backup to the target. It was checked when it came in; the
// part that an earlier worker has written is passed over.
func (p *Processor) restore(ctx context.Context, lease *db.Lease, j threads.Job) error {
	r := &restoring{running: running{p, lease, j}}
	if err := j.Read(&r.detail); err != nil {
		return err
	}
	err := r.run(ctx)
	if !isFinal(ctx, err) {
		return err
	}
	p.Log.Error("a backup could not be restored", "error", err)
	return r.end(ctx, threads.JobFailed, "The backup could not be read or written; the reason is in the server's log. Restore it again.")
}

// running is a job that goes on.
type running struct {
	p     *Processor
	lease *db.Lease
	job   threads.Job
}

func (r *running) wanted(ctx context.Context) error {
	j, err := r.p.Store.Job(ctx, r.job.Name)
	if err == nil && (j.Epoch != r.job.Epoch || j.State != threads.JobRunning) {
		err = threads.ErrOvertaken
	}
	return err
}

// restoring is a restore that goes on.
type restoring struct {
	running
	detail threads.RestoreJob // as it is stored

	backup *format.BackupReader
}

func (r *restoring) run(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	if r.p.Target != nil {
		return r.issuewise(ctx)
	}
	if err := r.writeAll(ctx); err != nil {
		return err
	}
	if err := r.removeAll(ctx); err != nil {
		return err
	}
	return r.end(ctx, threads.JobDone, "")
}

// open goes to the first issue that is not restored yet.
func (r *restoring) open(ctx context.Context) error {
	u, err := r.p.Store.Upload(ctx, r.detail.Upload)
	if err != nil {
		return err
	}
	if r.backup, err = format.NewBackupReader(r.p.Store.Uploads.Reader(ctx, u)); err != nil {
		return err
	}
	for range r.detail.Done {
		if _, err := r.backup.Next(); err != nil {
			return fmt.Errorf("going on with a backup: %w", err)
		}
	}
	return nil
}

func (r *restoring) commit(ctx context.Context, detail threads.RestoreJob, w threads.JobWritten) error {
	err := r.p.retry(ctx, "store what was restored", func(ctx context.Context) error {
		return r.store(ctx, detail, w)
	})
	if err == nil {
		r.p.beat()
	}
	return err
}

func (r *restoring) end(ctx context.Context, state, message string) error {
	r.job.State, r.job.Message = state, message
	if message == "" && r.detail.Refused > 0 {
		r.job.Message = fmt.Sprintf("The target does not have %d of the issues, or does not let them be written.", r.detail.Refused)
	}
	return r.commit(ctx, r.detail, threads.JobWritten{Drop: r.detail.Upload})
}

// writeAll writes the backup's maps to the database.
func (r *restoring) writeAll(ctx context.Context) error {
	for over := false; !over; {
		var maps []threads.IssueMap
		for len(maps) < restoreSlice {
			m, err := r.backup.Next()
			if over = errors.Is(err, io.EOF); over {
				break
			}
			if err != nil {
				return err
			}
			maps = append(maps, m)
		}
		after, w := r.detail, threads.JobWritten{Merge: maps}
		after.Done += int64(len(maps))
		if r.detail.Mode == threads.RestoreReplace {
			w = threads.JobWritten{Put: maps}
		}
		if err := r.commit(ctx, after, w); err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes the maps that the backup does not have, where it replaces.
func (r *restoring) removeAll(ctx context.Context) error {
	for r.detail.Mode == threads.RestoreReplace {
		issues, err := r.p.Store.StaleMaps(ctx, r.detail.Before, math.MinInt64, restoreSlice)
		if err != nil || len(issues) == 0 {
			return err
		}
		if err := r.commit(ctx, r.detail, threads.JobWritten{Remove: issues}); err != nil {
			return err
		}
	}
	return nil
}

// issuewise restores to a target that is asked about one issue at a time: first
// what the backup has, then, where it replaces, what it does not have.
func (r *restoring) issuewise(ctx context.Context) error {
	feeds := []feed{&backupFeed{r}}
	if r.detail.Mode == threads.RestoreReplace {
		feeds = append(feeds, &surplusFeed{restoring: r, after: math.MinInt64})
	}
	for _, f := range feeds {
		v, message, err := r.p.drive(ctx, f, nil, r.detail.Pace)
		if err != nil {
			return err
		}
		if v != finished {
			return r.end(ctx, threads.JobFailed, message+" Then restore the backup again.")
		}
	}
	return r.end(ctx, threads.JobDone, "")
}

func (r *restoring) task(issue int64, change func(threads.ParentMap) threads.ParentMap) *task {
	return &task{issue: issue, ask: func(ctx context.Context) (threads.ParentMap, error) {
		return r.p.Target.Write(ctx, issue, func(now threads.ParentMap) (threads.ParentMap, error) { return change(now), nil })
	}}
}

// store is a commit without patience, which the driver has.
func (r *restoring) store(ctx context.Context, after threads.RestoreJob, w threads.JobWritten) error {
	err := r.p.Store.CommitJob(ctx, r.lease, r.job, after, w)
	if err == nil {
		r.detail = after
	}
	return err
}

// backupFeed returns the issues of the backup.
type backupFeed struct{ *restoring }

func (f *backupFeed) next(context.Context) (*task, error) {
	m, err := f.backup.Next()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	change := func(old threads.ParentMap) threads.ParentMap { return old.Merge(m.Parents) }
	if f.detail.Mode == threads.RestoreReplace {
		change = func(threads.ParentMap) threads.ParentMap { return m.Parents }
	}
	return f.task(m.CloudIssueID, change), nil
}

func (f *backupFeed) keep(ctx context.Context, tasks []*task, ahead []threads.IssueMap, _ int64, pace threads.Pace) error {
	after, w := f.detail, threads.JobWritten{}
	after.Pace = pace
	for _, t := range tasks {
		after.Done++
		if t.failed {
			after.Refused++
			if t.refused != threads.TargetMissing {
				w.Stay = append(w.Stay, t.issue) // it is in the backup: none of those to remove
			}
		} else {
			w.Put = append(w.Put, threads.IssueMap{CloudIssueID: t.issue, Parents: t.parents})
		}
	}
	w.Put = append(w.Put, ahead...)
	return f.store(ctx, after, w)
}

// surplusFeed returns the issues that the backup does not have: those whose maps
// the restore has not written.
type surplusFeed struct {
	*restoring
	after  int64
	issues []int64
}

func (f *surplusFeed) next(ctx context.Context) (*task, error) {
	if len(f.issues) == 0 {
		err := f.p.retry(ctx, "find what the backup does not have", func(ctx context.Context) (err error) {
			f.issues, err = f.p.Store.StaleMaps(ctx, f.detail.Before, f.after, restoreSlice)
			return err
		})
		if err != nil || len(f.issues) == 0 {
			return nil, err
		}
	}
	f.after, f.issues = f.issues[0], f.issues[1:]
	return f.task(f.after, func(threads.ParentMap) threads.ParentMap { return nil }), nil
}

func (f *surplusFeed) keep(ctx context.Context, tasks []*task, ahead []threads.IssueMap, _ int64, pace threads.Pace) error {
	after, w := f.detail, threads.JobWritten{}
	after.Pace = pace
	for _, t := range tasks {
		if t.failed && t.refused != threads.TargetMissing {
			after.Refused++ // it stays there, and here
		} else {
			w.Remove = append(w.Remove, t.issue)
		}
	}
	for _, m := range ahead {
		w.Remove = append(w.Remove, m.CloudIssueID)
	}
	return f.store(ctx, after, w)
}

func (r *restoring) about() []any {
	return []any{"work", "restore", "backup", r.detail.Upload, "issues", r.detail.Done}
}
