package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

const migrationColumns = `epoch, phase, stage_id, accept_incomplete, incomplete, records, records_done,
	chunks, chunks_done, issues_in_chunk, issues, parent_maps, permanent, checked, refused,
	retryable, retrying, retry_chunk, retry_issue, rate_limits, failing_since, wait_until, wait_declared, trouble_since, trouble,
	started_at, updated_at, message, error_groups, worked, undoing, undone, kept`

func readMigration(ctx context.Context, tx *db.Tx, lock string) (m threads.Migration, err error) {
	var worked int64
	var groups string
	err = tx.Get(ctx, "reading the migration", []any{
		&m.Epoch, &m.Phase, &m.Stage, &m.AcceptIncomplete, &m.Incomplete, &m.Records, &m.RecordsDone, &m.Chunks, &m.ChunksDone, &m.IssuesInChunk,
		&m.Issues, &m.ParentMaps,
		&m.Permanent, &m.Checked, &m.Refused, &m.Retryable, &m.Retrying, &m.RetryAt.Chunk, &m.RetryAt.Issue,
		&m.Pace.RateLimits, db.At(&m.Pace.FailingSince), db.At(&m.Pace.WaitUntil), &m.Pace.Declared,
		db.At(&m.Pace.TroubleSince), &m.Pace.Trouble, db.At(&m.StartedAt), db.At(&m.UpdatedAt), &m.Message, &groups, &worked,
		&m.Undoing, &m.Undone, &m.Kept}, `SELECT `+migrationColumns+` FROM threads_migration WHERE id = 1`+lock)
	if err != nil {
		return m, err
	}
	m.Worked = time.Duration(worked) * time.Microsecond
	if groups != "" {
		err = json.Unmarshal([]byte(groups), &m.Groups)
	}
	if err != nil {
		return m, fmt.Errorf("decoding the migration's errors: %w", err)
	}
	return m, nil
}

func writeMigration(ctx context.Context, tx *db.Tx, m *threads.Migration) error {
	groups := ""
	if len(m.Groups) > 0 {
		text, err := json.Marshal(m.Groups)
		if err != nil {
			return fmt.Errorf("encoding the migration's errors: %w", err)
		}
		groups = string(text)
	}
	m.UpdatedAt = tx.Now()
	return tx.Do(ctx, "writing the migration",
		`UPDATE threads_migration SET epoch = $1, phase = $2, stage_id = $3, accept_incomplete = $4, records = $5,
		records_done = $6,
			chunks = $7, chunks_done = $8, issues_in_chunk = $9, issues = $10, parent_maps = $11, permanent = $12, checked = $13, refused = $14,
			retryable = $15,
			retrying = $16, retry_chunk = $17, retry_issue = $18, rate_limits = $19, failing_since = $20, wait_until = $21, wait_declared = $22,
			trouble_since = $23, trouble = $24, started_at = $25, updated_at = $26, message = $27, incomplete = $28,
			error_groups = $29, worked = $30, undoing = $31, undone = $32, kept = $33 WHERE id = 1`,
		m.Epoch, string(m.Phase), m.Stage, db.Bit(m.AcceptIncomplete), m.Records, m.RecordsDone, m.Chunks, m.ChunksDone, m.IssuesInChunk,
		m.Issues, m.ParentMaps,
		m.Permanent, db.Bit(m.Checked), m.Refused, m.Retryable, db.Bit(m.Retrying), m.RetryAt.Chunk, m.RetryAt.Issue,
		m.Pace.RateLimits, db.Micros(m.Pace.FailingSince), db.Micros(m.Pace.WaitUntil), db.Bit(m.Pace.Declared),
		db.Micros(m.Pace.TroubleSince), m.Pace.Trouble, db.Micros(m.StartedAt), db.Micros(m.UpdatedAt), m.Message, m.Incomplete,
		groups, m.Worked.Microseconds(), db.Bit(m.Undoing), m.Undone, m.Kept)
}

// workedUntil is how long the migration has been processed by a time: since it was
// stored last, if it was being processed then.
func workedUntil(stored *threads.Migration, now time.Time) time.Duration {
	if stored.Phase != threads.PhaseProcessing {
		return stored.Worked
	}
	return stored.Worked + max(0, now.Sub(stored.UpdatedAt))
}

// Migration is how the migration stands.
func (s *Store) Migration(ctx context.Context) (threads.Migration, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (threads.Migration, error) { return readMigration(ctx, tx, ``) })
}

// Operate does what an administrator asks, and returns how the migration stands
// then. What the phase does not allow is fault.Conflict, and files that are others
// than those that w names.
func (s *Store) Operate(ctx context.Context, op threads.Operation, w threads.Wish) (m threads.Migration, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if m, err = readMigration(ctx, tx, tx.ForUpdate()); err != nil {
			return err
		}
		before := m.Phase
		m.Worked = workedUntil(&m, tx.Now())
		if m.Phase, err = m.After(op); err != nil {
			return err
		}
		m.Epoch++
		switch op {
		case threads.OpUpload:
			err = s.load(ctx, tx, before, &m, w)
		case threads.OpStart:
			m.StartedAt, m.Message = tx.Now(), ""
			if w.Drafts != (threads.Drafts{}) {
				err = meant(ctx, tx, &m, w.Drafts)
			}
			if err == nil {
				err = targetFree(ctx, tx)
			}
		case threads.OpContinue:
			m.Message = ""
			m.Pace.Resume()
			err = targetFree(ctx, tx)
		case threads.OpRetry:
			m.Message = ""
			m.Retry()
			err = targetFree(ctx, tx)
		case threads.OpUndo:
			m.Message = ""
			if !m.Undoing {
				err = forgetLeft(ctx, tx)
			}
			m.Undo()
			m.Pace.Resume()
			if err == nil {
				err = targetFree(ctx, tx)
			}
		case threads.OpStop:
			m.Pace.Stop()
			m.Message = "Stopped. Continue goes on from here."
		case threads.OpCancel:
			m.Message = "Cancelled. What was written stays; undo or reset it before a new migration."
			if before == threads.PhaseLoading {
				err = giveBack(ctx, tx, &m)
			}
		case threads.OpReset:
			m, err = s.reset(ctx, tx, m)
		}
		if err != nil {
			return err
		}
		if err := writeMigration(ctx, tx, &m); err != nil {
			return err
		}
		tx.AfterCommit(s.Changed)
		after := map[string]string{"phase": string(m.Phase)}
		if w.AcceptIncomplete {
			after["acceptIncomplete"] = "true"
		}
		if w.AcceptOtherSite {
			after["acceptOtherSite"] = "true"
		}
		return record(ctx, tx, string(op), auditObject, map[string]string{"phase": string(before)}, after)
	})
	return m, err
}

// targetFree is fault.Conflict while a restore runs. A comparison is given up:
// what it found would not hold any more.
func targetFree(ctx context.Context, tx *db.Tx) error {
	job, err := readJob(ctx, tx, threads.JobRestore, ``)
	if err != nil {
		return err
	}
	if job.State == threads.JobRunning {
		return fault.New(fault.Conflict, "A backup is being restored; wait until that is done.")
	}
	return dropJob(ctx, tx, threads.JobVerify)
}

// load takes the drafts over into the migration: at once where a preview has
// staged them, else as soon as that is done.
func (s *Store) load(ctx context.Context, tx *db.Tx, before threads.Phase, m *threads.Migration, w threads.Wish) error {
	accept := w.AcceptIncomplete
	hierarchy, mappings, err := drafts(ctx, tx)
	if fault.Is(err, fault.Conflict) && before == threads.PhaseLoading {
		m.AcceptIncomplete = m.AcceptIncomplete || accept // the same again: it goes on
		return meant(ctx, tx, m, w.Drafts)
	}
	if err != nil {
		return err
	}
	st, err := findStage(ctx, tx, hierarchy.ID, mappings.ID)
	if err != nil {
		return err
	}
	present := threads.Drafts{Hierarchy: hierarchy.Draft(), Mappings: mappings.Draft()}
	read := st.Drafts()
	present.Hierarchy.SHA256, present.Mappings.SHA256 = read.Hierarchy.SHA256, read.Mappings.SHA256
	sites := threads.SitesOf(mappings.Site, s.target)
	switch {
	case !present.Same(w.Drafts):
		return present.ErrNotNamed(w.Drafts)
	case st.State == threads.StageFailed:
		return fault.New(fault.Invalid, "%s", st.Message)
	case sites.Differ && !w.AcceptOtherSite:
		return sites.ErrDiffer()
	case st.State == threads.StageDone && len(st.Preview.Incomplete) > 0 && !accept:
		return st.Preview.ErrIncomplete()
	}
	if err := dropStage(ctx, tx, m.Stage); err != nil {
		return err
	}
	if err := forgetLeft(ctx, tx); err != nil {
		return err
	}
	for _, id := range []int64{hierarchy.ID, mappings.ID} {
		if err := TakeUpload(ctx, tx, id); err != nil {
			return err
		}
	}
	*m = threads.Migration{Phase: threads.PhaseLoading, Epoch: m.Epoch, Stage: st.ID, AcceptIncomplete: accept}
	if st.State == threads.StageDone {
		return loaded(ctx, tx, m, st)
	}
	return nil
}

// meant is fault.Conflict unless the files that are named are the migration's.
func meant(ctx context.Context, tx *db.Tx, m *threads.Migration, named threads.Drafts) error {
	st, err := readStage(ctx, tx, m.Stage)
	if err != nil {
		return err
	}
	if loaded := st.Drafts(); !loaded.Same(named) {
		return loaded.ErrNotNamed(named)
	}
	return nil
}

// drafts returns the two files: fault.Conflict when one is not there in whole.
func drafts(ctx context.Context, tx *db.Tx) (hierarchy, mappings threads.Upload, err error) {
	for _, f := range []struct {
		kind string
		to   *threads.Upload
		what string
	}{{threads.HierarchyFile, &hierarchy, "hierarchy file"}, {threads.MappingsFile, &mappings, "id mappings file"}} {
		*f.to, err = uploadDraft(ctx, tx, f.kind)
		if fault.Is(err, fault.NotFound) || err == nil && !f.to.Complete() {
			return hierarchy, mappings, fault.New(fault.Conflict, "The %s is missing; choose and send it first.", f.what)
		}
		if err != nil {
			return hierarchy, mappings, err
		}
	}
	return hierarchy, mappings, nil
}

// loaded makes a staged data set the migration's.
func loaded(ctx context.Context, tx *db.Tx, m *threads.Migration, st *threads.StageState) error {
	m.Phase, m.Message, m.Incomplete = threads.PhaseReady, "", strings.Join(st.Preview.Incomplete, "\n")
	m.Records, m.Chunks = st.Preview.Records, st.Chunks
	for _, id := range []int64{st.HierarchyID, st.MappingsID} {
		if err := DropUpload(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

// reset is an empty migration; its drafts and data go.
func (s *Store) reset(ctx context.Context, tx *db.Tx, m threads.Migration) (threads.Migration, error) {
	if err := dropStage(ctx, tx, m.Stage); err != nil {
		return m, err
	}
	if err := forgetLeft(ctx, tx); err != nil {
		return m, err
	}
	for _, kind := range []string{threads.HierarchyFile, threads.MappingsFile} {
		u, err := uploadDraft(ctx, tx, kind)
		if err == nil {
			err = DropUpload(ctx, tx, u.ID)
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return m, err
		}
	}
	return threads.Migration{Phase: threads.PhaseEmpty, Epoch: m.Epoch}, dropJob(ctx, tx, threads.JobVerify)
}

// Taken begins a worker's turn at processing, and returns how the migration stands:
// nothing of an earlier worker comes any more. threads.ErrOvertaken when there is
// nothing to process.
func (s *Store) Taken(ctx context.Context, lease *db.Lease) (m threads.Migration, err error) {
	err = s.db.Write(ctx, fenced(ctx, lease, func(tx *db.Tx) error {
		if m, err = readMigration(ctx, tx, tx.ForUpdate()); err != nil {
			return err
		}
		if m.Phase != threads.PhaseProcessing {
			return threads.ErrOvertaken
		}
		m.Epoch++
		m.Worked = workedUntil(&m, tx.Now())
		return writeMigration(ctx, tx, &m)
	}))
	return m, err
}
