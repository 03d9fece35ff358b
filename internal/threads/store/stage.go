package store

import (
	"context"
	"encoding/json"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

const stageColumns = `id, state, hierarchy_id, mappings_id, step, done, chunks, preview, inputs, message, created_at`

func scanStage(row db.Row) (*threads.StageState, error) {
	st, done, preview, inputs := &threads.StageState{}, int64(0), "", ""
	if err := row.Scan(&st.ID, &st.State, &st.HierarchyID, &st.MappingsID, &st.Step, &done, &st.Chunks, &preview, &inputs, &st.Message,
		db.At(&st.CreatedAt)); err != nil {
		return nil, err
	}
	st.Done = float64(done) / 1000
	if inputs != "" {
		if err := json.Unmarshal([]byte(inputs), &st.Inputs); err != nil {
			return nil, fmt.Errorf("decoding the inputs of stage %d: %w", st.ID, err)
		}
	}
	if preview != "" {
		st.Preview = &threads.Preview{}
		if err := json.Unmarshal([]byte(preview), st.Preview); err != nil {
			return nil, fmt.Errorf("decoding the preview of stage %d: %w", st.ID, err)
		}
	}
	return st, nil
}

// findStage returns the stage of two files; it is wanted from now on.
func findStage(ctx context.Context, tx *db.Tx, hierarchy, mappings int64) (*threads.StageState, error) {
	st, err := stageOf(ctx, tx, hierarchy, mappings)
	if st != nil || err != nil {
		return st, err
	}
	st = &threads.StageState{State: threads.StageWanted, HierarchyID: hierarchy, MappingsID: mappings}
	return st, tx.Get(ctx, "ordering a stage", []any{&st.ID}, `INSERT INTO threads_stages (state, hierarchy_id, mappings_id, step, done,
		chunks, preview, inputs, message, created_at)
		VALUES ('wanted', $1, $2, '', 0, 0, '', '', '', $3) RETURNING id`, hierarchy, mappings, db.Micros(tx.Now()))
}

// oneStage returns the first stage that a condition selects, nil when there is
// none.
func oneStage(ctx context.Context, tx *db.Tx, where string, args ...any) (*threads.StageState, error) {
	list, err := db.List(ctx, tx, "reading the data", scanStage, `SELECT `+stageColumns+` FROM threads_stages WHERE `+where, args...)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// readStage returns a stage that there is.
func readStage(ctx context.Context, tx *db.Tx, id int64) (*threads.StageState, error) {
	st, err := oneStage(ctx, tx, `id = $1`, id)
	if err == nil && st == nil {
		err = fmt.Errorf("the data %d is not there", id)
	}
	return st, err
}

// stageOf returns the stage of two files, nil when there is none.
func stageOf(ctx context.Context, tx *db.Tx, hierarchy, mappings int64) (*threads.StageState, error) {
	return oneStage(ctx, tx, `hierarchy_id = $1 AND mappings_id = $2 AND state <> 'gone' ORDER BY id DESC LIMIT 1`, hierarchy, mappings)
}

// Stage returns a stage by its id: fault.NotFound when there is none.
func (s *Store) Stage(ctx context.Context, id int64) (st *threads.StageState, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if st, err = oneStage(ctx, tx, `id = $1 AND state <> 'gone'`, id); err == nil && st == nil {
			err = fault.New(fault.NotFound, "There is no such data.")
		}
		return err
	})
	return st, err
}

// Preview returns the stage of the drafts, which is begun if it was not, or that
// of the data that is loaded where there are no drafts. Without either it is
// fault.Conflict.
func (s *Store) Preview(ctx context.Context) (st *threads.StageState, err error) {
	look := func(tx *db.Tx, want bool) error {
		lock := ``
		if want {
			lock = tx.ForUpdate() // so that two who look want it once
		}
		m, err := readMigration(ctx, tx, lock)
		if err != nil {
			return err
		}
		hierarchy, mappings, missing := drafts(ctx, tx)
		switch {
		case missing == nil && want:
			st, err = findStage(ctx, tx, hierarchy.ID, mappings.ID)
		case missing == nil:
			st, err = stageOf(ctx, tx, hierarchy.ID, mappings.ID)
		case fault.Is(missing, fault.Conflict) && m.Stage != 0:
			st, err = readStage(ctx, tx, m.Stage)
		default:
			err = missing
		}
		return err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error { return look(tx, false) })
	if err != nil || st != nil {
		return st, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		tx.AfterCommit(s.Changed)
		return look(tx, true)
	})
	return st, err
}

// ClaimStage returns the stage that is wanted most, as running: that of a load,
// else the newest. It gives nil when none is wanted.
func (s *Store) ClaimStage(ctx context.Context, lease *db.Lease) (st *threads.StageState, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		st, err = oneStage(ctx, tx, `state IN ('wanted', 'running')
			ORDER BY CASE WHEN id = (SELECT stage_id FROM threads_migration WHERE id = 1) THEN 0 ELSE 1 END, id DESC LIMIT 1`)
		return err
	})
	if st == nil || err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, fenced(ctx, lease, func(tx *db.Tx) error {
		return setStage(ctx, tx, st.ID, `state = 'running', step = '', done = 0`)
	}))
	return st, err
}

// setStage changes a stage that is wanted or running: threads.ErrOvertaken when it is
// not any more.
func setStage(ctx context.Context, tx *db.Tx, id int64, set string, args ...any) error {
	return tx.ChangeOne(ctx, "changing a stage", threads.ErrOvertaken,
		`UPDATE threads_stages SET `+set+` WHERE id = $1 AND state IN ('wanted', 'running')`, append([]any{id}, args...)...)
}

// Inputs returns the two uploads of a stage.
func (s *Store) Inputs(ctx context.Context, st *threads.StageState) (hierarchy, mappings threads.Upload, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if hierarchy, err = findUpload(ctx, tx, st.HierarchyID); err != nil {
			return err
		}
		mappings, err = findUpload(ctx, tx, st.MappingsID)
		return err
	})
	return hierarchy, mappings, err
}

// giveBack makes drafts of a load's files again; the migration has no data.
func giveBack(ctx context.Context, tx *db.Tx, m *threads.Migration) error {
	st, err := readStage(ctx, tx, m.Stage)
	if err != nil {
		return err
	}
	m.Stage = 0
	if err := giveBackUpload(ctx, tx, st.HierarchyID); err != nil {
		return err
	}
	return giveBackUpload(ctx, tx, st.MappingsID)
}

// dropStage has a data set and its files deleted by and by; 0 is none.
func dropStage(ctx context.Context, tx *db.Tx, id int64) error {
	if id == 0 {
		return nil
	}
	st, err := readStage(ctx, tx, id)
	if err != nil {
		return err
	}
	for _, file := range []int64{st.HierarchyID, st.MappingsID} {
		if err := DropUpload(ctx, tx, file); err != nil {
			return err
		}
	}
	return tx.Do(ctx, "dropping the data", `UPDATE threads_stages SET state = 'gone' WHERE id = $1`, id)
}

// clearStage deletes a slice of a stage's pages, chunks and what the issues had
// before, and says how many rows.
func clearStage(ctx context.Context, tx *db.Tx, id int64) (int64, error) {
	n, err := clearPages(ctx, tx, id)
	if err != nil || n > 0 {
		return n, err
	}
	n, err = tx.Changed(ctx, "deleting chunks", `DELETE FROM threads_chunks WHERE stage_id = $1 AND number IN
		(SELECT number FROM threads_chunks WHERE stage_id = $1 ORDER BY number LIMIT $2)`, id, clearChunks)
	if err != nil || n > 0 {
		return n, err
	}
	return clearBefore(ctx, tx, id)
}

const (
	clearAtOnce = 32  // pages of 128 KiB
	clearChunks = 256 // of about 15 KiB
)

func clearPages(ctx context.Context, tx *db.Tx, id int64) (int64, error) {
	var run, page int64
	found, err := tx.Find(ctx, "finding old pages", []any{&run, &page},
		`SELECT run, page FROM threads_stage_pages WHERE stage_id = $1 ORDER BY run, page LIMIT 1`, id)
	if err != nil || !found {
		return 0, err
	}
	return tx.Changed(ctx, "deleting old pages",
		`DELETE FROM threads_stage_pages WHERE stage_id = $1 AND run = $2 AND page >= $3 AND page < $4`, id, run, page,
		page+clearAtOnce)
}
