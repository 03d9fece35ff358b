package store

import (
	"context"
	"encoding/json"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

func readJob(ctx context.Context, tx *db.Tx, name, lock string) (j threads.Job, err error) {
	j.Name = name
	_, err = tx.Find(ctx, "reading the job "+name, []any{&j.State, &j.Epoch, &j.Detail, &j.Message, db.At(&j.UpdatedAt)},
		`SELECT state, epoch, detail, message, updated_at FROM threads_jobs WHERE name = $1`+lock, name)
	return j, err
}

func writeJob(ctx context.Context, tx *db.Tx, j threads.Job, detail any) error {
	text, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("encoding the job %s: %w", j.Name, err)
	}
	return tx.Do(ctx, fmt.Sprintf("writing the job %s", j.Name),
		`INSERT INTO threads_jobs (name, state, epoch, detail, message, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (name) DO UPDATE SET state = excluded.state, epoch = excluded.epoch, detail = excluded.detail,
			message = excluded.message, updated_at = excluded.updated_at`,
		j.Name, j.State, j.Epoch, string(text), j.Message, db.Micros(tx.Now()))
}

// dropJob returns a job up. Its epoch counts on, so that its worker cannot take
// the next one for its own.
func dropJob(ctx context.Context, tx *db.Tx, name string) error {
	return tx.Do(ctx, fmt.Sprintf("giving up the job %s", name),
		`UPDATE threads_jobs SET state = '', epoch = epoch + 1, detail = '{}', message = '' WHERE name = $1`,
		name)
}

// Job returns a job; its State is "" where there is none.
func (s *Store) Job(ctx context.Context, name string) (threads.Job, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (threads.Job, error) { return readJob(ctx, tx, name, ``) })
}

// BeginRestore has a backup that was checked written to the target: it is taken
// from the drafts. fault.Conflict while the migration or another restore runs.
func (s *Store) BeginRestore(ctx context.Context, r threads.RestoreJob) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		m, err := readMigration(ctx, tx, tx.ForUpdate())
		if err != nil {
			return err
		}
		if m.Phase == threads.PhaseProcessing {
			return fault.New(fault.Conflict, "The migration is %s; stop it before a backup is restored.", m.Phase.Status())
		}
		job, err := readJob(ctx, tx, threads.JobRestore, tx.ForUpdate())
		if err != nil {
			return err
		}
		if job.State == threads.JobRunning {
			return fault.New(fault.Conflict, "Another backup is being restored; wait until that is done.")
		}
		if err := TakeUpload(ctx, tx, r.Upload); err != nil {
			return err
		}
		if r.Before, err = s.version(ctx, tx, ``); err != nil {
			return err
		}
		if err := dropJob(ctx, tx, threads.JobVerify); err != nil {
			return err
		}
		tx.AfterCommit(s.Changed)
		if err := writeJob(ctx, tx, threads.Job{Name: threads.JobRestore, State: threads.JobRunning, Epoch: job.Epoch + 1}, r); err != nil {
			return err
		}
		return record(ctx, tx, "restore", auditObject, nil, map[string]string{"mode": string(r.Mode), "issues": fmt.Sprint(r.Issues)})
	})
}

// Verify begins a comparison of the target with the data, or gives the one that
// there is: one that ended holds while neither data nor maps have changed,
// unless a new one is asked for. Without data it is fault.Conflict, and while
// that is processed.
func (s *Store) Verify(ctx context.Context, again bool) (j threads.Job, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		m, err := readMigration(ctx, tx, tx.ForUpdate())
		if err != nil {
			return err
		}
		switch m.Phase {
		case threads.PhaseEmpty, threads.PhaseLoading:
			return fault.New(fault.Conflict, "Nothing is loaded that the target could be compared with.")
		case threads.PhaseProcessing:
			return fault.New(fault.Conflict, "The migration is %s; compare when it has ended or is stopped.", m.Phase.Status())
		}
		if m.Stage == 0 {
			return fault.New(fault.Conflict, "Nothing is loaded that the target could be compared with.")
		}
		j, err = s.beginVerify(ctx, tx, &m, again)
		return err
	})
	return j, err
}

// beginVerify begins a comparison, unless one of the same data and maps runs or,
// where it need not be done again, has ended.
func (s *Store) beginVerify(ctx context.Context, tx *db.Tx, m *threads.Migration, again bool) (threads.Job, error) {
	version, err := s.version(ctx, tx, ``)
	if err != nil {
		return threads.Job{}, err
	}
	v := threads.VerifyJob{Stage: m.Stage, Version: version, Chunks: m.Chunks}
	v.First = []threads.Difference{}
	j, err := readJob(ctx, tx, threads.JobVerify, tx.ForUpdate())
	if err != nil {
		return j, err
	}
	var last threads.VerifyJob
	if j.State != "" {
		if err := j.Read(&last); err != nil {
			return j, err
		}
	}
	same := last.Stage == v.Stage && last.Version == v.Version
	if same && (j.State == threads.JobRunning || j.State == threads.JobDone && !again) {
		return j, nil
	}
	j = threads.Job{Name: threads.JobVerify, State: threads.JobRunning, Epoch: j.Epoch + 1}
	tx.AfterCommit(s.Changed)
	return j, writeJob(ctx, tx, j, v)
}

// CommitJob stores how far a job is and what it wrote: threads.ErrOvertaken when it is
// no longer that worker's to say.
func (s *Store) CommitJob(ctx context.Context, lease *db.Lease, j threads.Job, detail any, w threads.JobWritten) error {
	return s.db.WriteBulk(ctx, fenced(ctx, lease, func(tx *db.Tx) error {
		stored, err := readJob(ctx, tx, j.Name, tx.ForUpdate())
		if err != nil {
			return err
		}
		if stored.Epoch != j.Epoch || stored.State != threads.JobRunning {
			return threads.ErrOvertaken
		}
		if len(w.Merge)+len(w.Put)+len(w.Stay)+len(w.Remove) > 0 {
			maps, err := s.writeMaps(ctx, tx)
			if err != nil {
				return err
			}
			if err := maps.merge(ctx, w.Merge); err != nil {
				return err
			}
			if err := maps.put(ctx, w.Put); err != nil {
				return err
			}
			if err := maps.stay(ctx, w.Stay); err != nil {
				return err
			}
			if err := maps.remove(ctx, w.Remove); err != nil {
				return err
			}
		}
		if w.Drop != 0 {
			if err := DropUpload(ctx, tx, w.Drop); err != nil {
				return err
			}
		}
		if j.State != threads.JobRunning {
			tx.AfterCommit(s.Changed)
		}
		return writeJob(ctx, tx, j, detail)
	}))
}

// StaleMaps returns up to limit issues after one whose maps are not newer than a
// version.
func (s *Store) StaleMaps(ctx context.Context, version, after int64, limit int) ([]int64, error) {
	return db.ReadList(ctx, s.db, "reading issues with old maps", db.Value[int64], `SELECT issue_id FROM threads_maps
		WHERE target_id = $1 AND version <= $2 AND issue_id > $3 ORDER BY issue_id LIMIT $4`, s.id, version, after, limit)
}
