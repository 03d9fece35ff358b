package threads

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads/upload"
)

// StageState is two drafts on their way to being chunks.
type StageState struct {
	ID                      int64
	State                   string
	HierarchyID, MappingsID int64 // uploads
	Step                    string
	Done                    float64 // 0 to 1
	Chunks                  int64
	Preview                 *Preview // once it is done
	Message                 string   // why it failed
}

// States of a stage; one that is gone is in no list.
const (
	StageWanted  = "wanted"
	StageRunning = "running"
	StageDone    = "done"
	StageFailed  = "failed"
)

const stageColumns = `id, state, hierarchy_id, mappings_id, step, done, chunks, preview, message`

func scanStage(row db.Row) (*StageState, error) {
	st, done, preview := &StageState{}, int64(0), ""
	if err := row.Scan(&st.ID, &st.State, &st.HierarchyID, &st.MappingsID, &st.Step, &done, &st.Chunks, &preview, &st.Message); err != nil {
		return nil, err
	}
	st.Done = float64(done) / 1000
	if preview != "" {
		st.Preview = &Preview{}
		if err := json.Unmarshal([]byte(preview), st.Preview); err != nil {
			return nil, fmt.Errorf("decode the preview of stage %d: %w", st.ID, err)
		}
	}
	return st, nil
}

// findStage gives the stage of two files; it is wanted from now on.
func findStage(ctx context.Context, tx *db.Tx, hierarchy, mappings int64) (*StageState, error) {
	st, err := stageOf(ctx, tx, hierarchy, mappings)
	if st != nil || err != nil {
		return st, err
	}
	st = &StageState{State: StageWanted, HierarchyID: hierarchy, MappingsID: mappings}
	err = tx.QueryRow(ctx, `INSERT INTO threads_stages (state, hierarchy_id, mappings_id, step, done, chunks, preview, message, created_at)
		VALUES ('wanted', $1, $2, '', 0, 0, '', '', $3) RETURNING id`, hierarchy, mappings, db.Micros(tx.Now())).Scan(&st.ID)
	if err != nil {
		return nil, fmt.Errorf("want a stage: %w", err)
	}
	return st, nil
}

// stageOf gives the stage of two files, nil when there is none.
func stageOf(ctx context.Context, tx *db.Tx, hierarchy, mappings int64) (*StageState, error) {
	st, err := scanStage(tx.QueryRow(ctx, `SELECT `+stageColumns+` FROM threads_stages
		WHERE hierarchy_id = $1 AND mappings_id = $2 AND state <> 'gone' ORDER BY id DESC LIMIT 1`, hierarchy, mappings))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return st, err
}

// Stage gives a stage by its id: fault.NotFound when there is none.
func (s *Store) Stage(ctx context.Context, id int64) (st *StageState, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		st, err = scanStage(tx.QueryRow(ctx, `SELECT `+stageColumns+` FROM threads_stages WHERE id = $1 AND state <> 'gone'`, id))
		return noRows(err, fault.New(fault.NotFound, "There is no such data."))
	})
	return st, err
}

// Preview gives the stage of the drafts, which is begun if it was not, or that
// of the data that is loaded where there are no drafts. Without either it is
// fault.Conflict.
func (s *Store) Preview(ctx context.Context) (st *StageState, err error) {
	look := func(tx *db.Tx, want bool) error {
		lock := ``
		if want {
			lock = forUpdate(tx) // so that two who look want it once
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
			st, err = scanStage(tx.QueryRow(ctx, `SELECT `+stageColumns+` FROM threads_stages WHERE id = $1`, m.Stage))
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

// ClaimStage gives the stage that is wanted most, as running: that of a load,
// else the newest. It gives nil when none is wanted.
func (s *Store) ClaimStage(ctx context.Context, h Holder) (st *StageState, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		st, err = scanStage(tx.QueryRow(ctx, `SELECT `+stageColumns+` FROM threads_stages WHERE state IN ('wanted', 'running')
			ORDER BY CASE WHEN id = (SELECT stage_id FROM threads_migration WHERE id = 1) THEN 0 ELSE 1 END, id DESC LIMIT 1`))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if st == nil || err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := fenced(ctx, tx, h); err != nil {
			return err
		}
		return setStage(ctx, tx, st.ID, `state = 'running', step = '', done = 0`)
	})
	return st, err
}

// setStage changes a stage that is wanted or running: ErrOvertaken when it is
// not any more.
func setStage(ctx context.Context, tx *db.Tx, id int64, set string, args ...any) error {
	n, err := tx.Exec(ctx, `UPDATE threads_stages SET `+set+` WHERE id = $1 AND state IN ('wanted', 'running')`, append([]any{id}, args...)...)
	if err != nil {
		return fmt.Errorf("change a stage: %w", err)
	}
	if n == 0 {
		return ErrOvertaken
	}
	return nil
}

// Inputs gives the two uploads of a stage.
func (s *Store) Inputs(ctx context.Context, st *StageState) (hierarchy, mappings upload.Upload, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if hierarchy, err = upload.Find(ctx, tx, st.HierarchyID); err != nil {
			return err
		}
		mappings, err = upload.Find(ctx, tx, st.MappingsID)
		return err
	})
	return hierarchy, mappings, err
}

// StageWriter keeps what a stage makes, for as long as it is the holder's.
type StageWriter struct {
	store *Store
	id    int64
	h     Holder
}

// StageWriter writes for a stage that was claimed.
func (s *Store) StageWriter(st *StageState, h Holder) *StageWriter {
	return &StageWriter{s, st.ID, h}
}

func (w *StageWriter) write(ctx context.Context, fn func(tx *db.Tx) error) error {
	return w.store.db.WriteBulk(ctx, func(tx *db.Tx) error {
		if err := fenced(ctx, tx, w.h); err != nil {
			return err
		}
		return fn(tx)
	})
}

// WritePages keeps pages of a sorted run.
func (w *StageWriter) WritePages(ctx context.Context, run, first int64, pages [][]byte) error {
	return w.write(ctx, func(tx *db.Tx) error {
		for i, p := range pages {
			if _, err := tx.Exec(ctx, `INSERT INTO threads_stage_pages (stage_id, run, page, data) VALUES ($1, $2, $3, $4)`, w.id, run, first+int64(i), p); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReadPage reads one of them.
func (w *StageWriter) ReadPage(ctx context.Context, run, page int64) (data []byte, err error) {
	err = w.store.db.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(ctx, `SELECT data FROM threads_stage_pages WHERE stage_id = $1 AND run = $2 AND page = $3`, w.id, run, page).Scan(&data)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrOvertaken // somebody clears it away
	}
	return data, err
}

// WriteChunks keeps chunks.
func (w *StageWriter) WriteChunks(ctx context.Context, chunks []*Chunk) error {
	var stages, numbers, records, errors []int64
	var data [][]byte
	for _, c := range chunks {
		stages, numbers, records, errors = append(stages, w.id), append(numbers, c.Number), append(records, c.Records), append(errors, c.Errors)
		data = append(data, c.Encode())
	}
	return w.write(ctx, func(tx *db.Tx) error {
		return tx.Insert(ctx, db.Insert{
			Into:    `threads_chunks (stage_id, number, records, errors, data)`,
			Columns: []any{stages, numbers, records, errors, data},
		})
	})
}

// Progress notes how far the stage is.
func (w *StageWriter) Progress(ctx context.Context, step string, done float64) error {
	return w.write(ctx, func(tx *db.Tx) error {
		return setStage(ctx, tx, w.id, `step = $2, done = $3`, step, int64(done*1000))
	})
}

// Clear deletes what an earlier attempt has left, a slice at a time.
func (w *StageWriter) Clear(ctx context.Context) error {
	for {
		var n int64
		if err := w.write(ctx, func(tx *db.Tx) (err error) {
			n, err = clearStage(ctx, tx, w.id)
			return err
		}); err != nil || n == 0 {
			return err
		}
	}
}

// Finish ends the stage: the data is there. A load that waits for it is
// through, unless its files are damaged and that was not accepted.
func (w *StageWriter) Finish(ctx context.Context, p *Preview) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the preview: %w", err)
	}
	return w.store.db.Write(ctx, func(tx *db.Tx) error {
		if err := fenced(ctx, tx, w.h); err != nil {
			return err
		}
		if err := setStage(ctx, tx, w.id, `state = 'done', step = '', done = 1000, preview = $2,
			chunks = (SELECT count(*) FROM threads_chunks c WHERE c.stage_id = threads_stages.id)`, string(text)); err != nil {
			return err
		}
		m, err := readMigration(ctx, tx, forUpdate(tx))
		if err != nil || m.Phase != PhaseLoading || m.Stage != w.id {
			return err
		}
		st, err := scanStage(tx.QueryRow(ctx, `SELECT `+stageColumns+` FROM threads_stages WHERE id = $1`, w.id))
		if err != nil {
			return err
		}
		if len(p.Incomplete) > 0 && !m.acceptIncomplete {
			return w.refuse(ctx, tx, m, errIncomplete(p).Message)
		}
		if err := loaded(ctx, tx, &m, st); err != nil {
			return err
		}
		tx.AfterCommit(w.store.Changed)
		return writeMigration(ctx, tx, &m)
	})
}

// Fail ends the stage: the files cannot be used, and why.
func (w *StageWriter) Fail(ctx context.Context, message string) error {
	return w.store.db.Write(ctx, func(tx *db.Tx) error {
		if err := fenced(ctx, tx, w.h); err != nil {
			return err
		}
		if err := setStage(ctx, tx, w.id, `state = 'failed', step = '', message = $2`, message); err != nil {
			return err
		}
		m, err := readMigration(ctx, tx, forUpdate(tx))
		if err != nil || m.Phase != PhaseLoading || m.Stage != w.id {
			return err
		}
		return w.refuse(ctx, tx, m, message)
	})
}

// refuse ends a load that cannot go on; its files are drafts again.
func (w *StageWriter) refuse(ctx context.Context, tx *db.Tx, m Migration, why string) error {
	m.Epoch++
	m.Phase, m.Message = PhaseEmpty, why
	if err := giveBack(ctx, tx, &m); err != nil {
		return err
	}
	tx.AfterCommit(w.store.Changed)
	return writeMigration(ctx, tx, &m)
}

// giveBack makes drafts of a load's files again; the migration has no data.
func giveBack(ctx context.Context, tx *db.Tx, m *Migration) error {
	st, err := scanStage(tx.QueryRow(ctx, `SELECT `+stageColumns+` FROM threads_stages WHERE id = $1`, m.Stage))
	if err != nil {
		return err
	}
	m.Stage = 0
	if err := upload.GiveBack(ctx, tx, st.HierarchyID); err != nil {
		return err
	}
	return upload.GiveBack(ctx, tx, st.MappingsID)
}

// dropStage has a data set and its files deleted by and by; 0 is none.
func dropStage(ctx context.Context, tx *db.Tx, id int64) error {
	if id == 0 {
		return nil
	}
	st, err := scanStage(tx.QueryRow(ctx, `SELECT `+stageColumns+` FROM threads_stages WHERE id = $1`, id))
	if err != nil {
		return fmt.Errorf("read the data to drop: %w", err)
	}
	for _, file := range []int64{st.HierarchyID, st.MappingsID} {
		if err := upload.Drop(ctx, tx, file); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, `UPDATE threads_stages SET state = 'gone' WHERE id = $1`, id); err != nil {
		return fmt.Errorf("drop the data: %w", err)
	}
	return nil
}

// clearStage deletes a slice of a stage's pages and chunks, and says how many.
func clearStage(ctx context.Context, tx *db.Tx, id int64) (int64, error) {
	n, err := clearPages(ctx, tx, id)
	if err != nil || n > 0 {
		return n, err
	}
	n, err = tx.Exec(ctx, `DELETE FROM threads_chunks WHERE stage_id = $1 AND number IN
		(SELECT number FROM threads_chunks WHERE stage_id = $1 ORDER BY number LIMIT $2)`, id, clearChunks)
	if err != nil {
		return 0, fmt.Errorf("delete chunks: %w", err)
	}
	return n, nil
}

const (
	clearAtOnce = 32  // pages of 128 KiB
	clearChunks = 256 // of about 15 KiB
)

func clearPages(ctx context.Context, tx *db.Tx, id int64) (int64, error) {
	var run, page int64
	err := tx.QueryRow(ctx, `SELECT run, page FROM threads_stage_pages WHERE stage_id = $1 ORDER BY run, page LIMIT 1`, id).Scan(&run, &page)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find old pages: %w", err)
	}
	n, err := tx.Exec(ctx, `DELETE FROM threads_stage_pages WHERE stage_id = $1 AND run = $2 AND page >= $3 AND page < $4`, id, run, page, page+clearAtOnce)
	if err != nil {
		return 0, fmt.Errorf("delete old pages: %w", err)
	}
	return n, nil
}
