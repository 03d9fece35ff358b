package threads

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads/upload"
)

// Job is what runs beside the migration.
type Job struct {
	Name      string
	State     string // "" where there is none
	Epoch     int64
	Detail    string // JSON: a RestoreJob or a VerifyJob
	Message   string
	UpdatedAt time.Time
}

// The jobs and their states.
const (
	JobRestore = "restore"
	JobVerify  = "verify"

	JobRunning = "running"
	JobDone    = "done"
	JobFailed  = "failed"
)

// RestoreMode says what a restore does with what the backup does not have.
type RestoreMode string

// The modes.
const (
	RestoreMerge   RestoreMode = "merge"   // relations and issues that it does not name stay
	RestoreReplace RestoreMode = "replace" // they go
)

// RestoreJob is a backup on its way into the target.
type RestoreJob struct {
	Mode   RestoreMode `json:"mode"`
	Upload int64       `json:"upload"`
	Issues int64       `json:"issues"` // in the backup
	Done   int64       `json:"done"`   // of them
	Before int64       `json:"before"` // the version before it: what is not newer in the end is not in the backup
	Pace   Pace        `json:"pace"`
}

// VerifyJob compares the target with what was loaded.
type VerifyJob struct {
	Stage      int64        `json:"stage"`
	Version    int64        `json:"version"` // of the maps when it began
	Chunk      int64        `json:"chunk"`   // the next one
	Chunks     int64        `json:"chunks"`
	Issues     int64        `json:"issues"`    // compared
	Relations  int64        `json:"relations"` // expected: those of the data that are no errors
	Present    int64        `json:"present"`   // as expected
	Missing    int64        `json:"missing"`
	Different  int64        `json:"different"` // with another parent
	Unreadable int64        `json:"unreadable"`
	First      []Difference `json:"first"` // of what is missing or different
	Pace       Pace         `json:"pace"`
}

// Difference is a relation that is not in the target as it should be.
type Difference struct {
	CloudIssueID int64 `json:"issueId,string"`
	CommentID    int64 `json:"commentId,string"`
	Expected     int64 `json:"expected,string"`
	Found        int64 `json:"found,string,omitempty"`
}

func readJob(ctx context.Context, tx *db.Tx, name, lock string) (j Job, err error) {
	j.Name = name
	var updated int64
	err = tx.QueryRow(ctx, `SELECT state, epoch, detail, message, updated_at FROM threads_jobs WHERE name = $1`+lock, name).
		Scan(&j.State, &j.Epoch, &j.Detail, &j.Message, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return j, nil
	}
	if err != nil {
		return j, fmt.Errorf("read the job %s: %w", name, err)
	}
	j.UpdatedAt = db.Time(updated)
	return j, nil
}

func writeJob(ctx context.Context, tx *db.Tx, j Job, detail any) error {
	text, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("encode the job %s: %w", j.Name, err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO threads_jobs (name, state, epoch, detail, message, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (name) DO UPDATE SET state = excluded.state, epoch = excluded.epoch, detail = excluded.detail,
			message = excluded.message, updated_at = excluded.updated_at`,
		j.Name, j.State, j.Epoch, string(text), j.Message, db.Micros(tx.Now())); err != nil {
		return fmt.Errorf("write the job %s: %w", j.Name, err)
	}
	return nil
}

// dropJob forgets a job.
func dropJob(ctx context.Context, tx *db.Tx, name string) error {
	if _, err := tx.Exec(ctx, `DELETE FROM threads_jobs WHERE name = $1`, name); err != nil {
		return fmt.Errorf("forget the job %s: %w", name, err)
	}
	return nil
}

// Job gives a job; its State is "" where there is none.
func (s *Store) Job(ctx context.Context, name string) (j Job, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		j, err = readJob(ctx, tx, name, ``)
		return err
	})
	return j, err
}

// Read decodes the job's detail.
func (j Job) Read(detail any) error {
	if err := json.Unmarshal([]byte(j.Detail), detail); err != nil {
		return fmt.Errorf("decode the job %s: %w", j.Name, err)
	}
	return nil
}

// BeginRestore has a backup that was checked written to the target: it is taken
// from the drafts. fault.Conflict while the migration or another restore runs.
func (s *Store) BeginRestore(ctx context.Context, who Actor, r RestoreJob) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		m, err := readMigration(ctx, tx, forUpdate(tx))
		if err != nil {
			return err
		}
		if m.Phase == PhaseProcessing {
			return fault.New(fault.Conflict, "The migration is %s; stop it before a backup is restored.", m.Phase.Status())
		}
		job, err := readJob(ctx, tx, JobRestore, forUpdate(tx))
		if err != nil {
			return err
		}
		if job.State == JobRunning {
			return fault.New(fault.Conflict, "Another backup is being restored; wait until that is done.")
		}
		if err := upload.Take(ctx, tx, r.Upload); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT version FROM threads_targets WHERE id = $1`, s.id).Scan(&r.Before); err != nil {
			return fmt.Errorf("read the version: %w", err)
		}
		tx.AfterCommit(s.Changed)
		if err := writeJob(ctx, tx, Job{Name: JobRestore, State: JobRunning, Epoch: job.Epoch + 1}, r); err != nil {
			return err
		}
		return record(ctx, tx, who, "restore", nil, map[string]string{"mode": string(r.Mode), "issues": fmt.Sprint(r.Issues)})
	})
}

// Verify begins a comparison of the target with the data, or gives the one that
// there is: one that ended holds while neither data nor maps have changed,
// unless a new one is asked for. Without data it is fault.Conflict, and while
// that is processed.
func (s *Store) Verify(ctx context.Context, again bool) (j Job, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		m, err := readMigration(ctx, tx, forUpdate(tx))
		if err != nil {
			return err
		}
		switch m.Phase {
		case PhaseEmpty, PhaseLoading:
			return fault.New(fault.Conflict, "Nothing is loaded that the target could be compared with.")
		case PhaseProcessing:
			return fault.New(fault.Conflict, "The migration is %s; compare when it is over, or stopped.", m.Phase.Status())
		}
		if m.Stage == 0 {
			return fault.New(fault.Conflict, "Nothing is loaded that the target could be compared with.")
		}
		v := VerifyJob{Stage: m.Stage, Chunks: m.Chunks, First: []Difference{}}
		if err := tx.QueryRow(ctx, `SELECT version FROM threads_targets WHERE id = $1`, s.id).Scan(&v.Version); err != nil {
			return fmt.Errorf("read the version: %w", err)
		}
		if j, err = readJob(ctx, tx, JobVerify, forUpdate(tx)); err != nil {
			return err
		}
		var last VerifyJob
		if j.State != "" {
			if err := j.Read(&last); err != nil {
				return err
			}
		}
		same := last.Stage == v.Stage && last.Version == v.Version
		if same && (j.State == JobRunning || j.State == JobDone && !again) {
			return nil
		}
		j = Job{Name: JobVerify, State: JobRunning, Epoch: j.Epoch + 1}
		tx.AfterCommit(s.Changed)
		return writeJob(ctx, tx, j, v)
	})
	return j, err
}

// CommitJob stores how far a job is and what it wrote: ErrOvertaken when it is
// no longer that worker's to say.
func (s *Store) CommitJob(ctx context.Context, h Holder, j Job, detail any, w JobWritten) error {
	return s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		if err := fenced(ctx, tx, h); err != nil {
			return err
		}
		stored, err := readJob(ctx, tx, j.Name, forUpdate(tx))
		if err != nil {
			return err
		}
		if stored.Epoch != j.Epoch || stored.State != JobRunning {
			return ErrOvertaken
		}
		if len(w.Merge)+len(w.Put)+len(w.Remove) > 0 {
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
			if err := maps.remove(ctx, w.Remove); err != nil {
				return err
			}
		}
		if w.Drop != 0 {
			if err := upload.Drop(ctx, tx, w.Drop); err != nil {
				return err
			}
		}
		if j.State != JobRunning {
			tx.AfterCommit(s.Changed)
		}
		return writeJob(ctx, tx, j, detail)
	})
}

// JobWritten is what a job did since its last commit.
type JobWritten struct {
	Merge, Put []IssueMap
	Remove     []int64 // issues
	Drop       int64   // an upload that is no longer needed
}

// StaleMaps gives up to limit issues whose maps are not newer than a version.
func (s *Store) StaleMaps(ctx context.Context, version int64, limit int) (issues []int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		issues = nil
		rows, err := tx.Query(ctx, `SELECT issue_id FROM threads_maps WHERE target_id = $1 AND version <= $2 ORDER BY issue_id LIMIT $3`, s.id, version, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			issues = append(issues, id)
		}
		return rows.Err()
	})
	return issues, err
}
