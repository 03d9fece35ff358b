package store

import (
	"context"
	"encoding/json"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// StageWriter keeps what a stage makes, for as long as it is the holder's.
type StageWriter struct {
	store *Store
	id    int64
	lease *db.Lease
}

// StageWriter writes for a stage that was claimed.
func (s *Store) StageWriter(st *threads.StageState, lease *db.Lease) *StageWriter {
	return &StageWriter{s, st.ID, lease}
}

func (w *StageWriter) write(ctx context.Context, fn func(tx *db.Tx) error) error {
	return w.store.db.WriteBulk(ctx, fenced(ctx, w.lease, fn))
}

// WritePages keeps pages of a sorted run.
func (w *StageWriter) WritePages(ctx context.Context, run, first int64, pages [][]byte) error {
	return w.write(ctx, func(tx *db.Tx) error {
		for i, p := range pages {
			if err := tx.Do(ctx, "keeping a page", `INSERT INTO threads_stage_pages (stage_id, run, page, data) VALUES ($1, $2, $3, $4)`,
				w.id, run, first+int64(i), p); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReadPage reads one of them.
func (w *StageWriter) ReadPage(ctx context.Context, run, page int64) (data []byte, err error) {
	found, err := w.store.db.Find(ctx, "reading a page", []any{&data},
		`SELECT data FROM threads_stage_pages WHERE stage_id = $1 AND run = $2 AND page = $3`, w.id, run, page)
	if err == nil && !found {
		err = threads.ErrOvertaken // it is being cleared away
	}
	return data, err
}

// WriteChunks keeps chunks.
func (w *StageWriter) WriteChunks(ctx context.Context, chunks []*threads.Chunk) error {
	type encoded struct {
		*threads.Chunk
		data []byte
	}
	rows := make([]encoded, len(chunks))
	for i, c := range chunks {
		rows[i] = encoded{c, c.Encode()}
	}
	return w.write(ctx, func(tx *db.Tx) error {
		return db.Insert[encoded]{
			Into: `threads_chunks (stage_id, number, records, errors, data)`,
			Columns: []db.Column[encoded]{
				db.Number(func(encoded) int64 { return w.id }),
				db.Number(func(c encoded) int64 { return c.Number }),
				db.Number(func(c encoded) int64 { return c.Records }),
				db.Number(func(c encoded) int64 { return c.Errors }),
				db.Blob(func(c encoded) []byte { return c.data }),
			},
		}.Rows(ctx, tx, "keeping chunks", rows)
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

// Finish ends the stage: the data is there, made of some files. A load that waits for it is
// through, unless its files are damaged and that was not accepted.
func (w *StageWriter) Finish(ctx context.Context, p *threads.Preview, inputs []threads.Input) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encoding the preview: %w", err)
	}
	files, err := json.Marshal(inputs)
	if err != nil {
		return fmt.Errorf("encoding the inputs: %w", err)
	}
	return w.end(ctx, func(tx *db.Tx, m *threads.Migration) error {
		if len(p.Incomplete) > 0 && !m.AcceptIncomplete {
			return refuse(ctx, tx, m, p.ErrIncomplete().Message)
		}
		st, err := readStage(ctx, tx, w.id)
		if err != nil {
			return err
		}
		return loaded(ctx, tx, m, st)
	}, `state = 'done', step = '', done = 1000, preview = $2, inputs = $3,
		chunks = (SELECT count(*) FROM threads_chunks c WHERE c.stage_id = threads_stages.id)`, string(text), string(files))
}

// Fail ends the stage: the files cannot be used, and why.
func (w *StageWriter) Fail(ctx context.Context, message string) error {
	return w.end(ctx, func(tx *db.Tx, m *threads.Migration) error { return refuse(ctx, tx, m, message) },
		`state = 'failed', step = '', message = $2`, message)
}

// end ends the stage as set says, and the load that waits for it, if one does, as
// then does.
func (w *StageWriter) end(ctx context.Context, then func(*db.Tx, *threads.Migration) error, set string, args ...any) error {
	return w.store.db.Write(ctx, fenced(ctx, w.lease, func(tx *db.Tx) error {
		if err := setStage(ctx, tx, w.id, set, args...); err != nil {
			return err
		}
		m, err := readMigration(ctx, tx, tx.ForUpdate())
		if err != nil || m.Phase != threads.PhaseLoading || m.Stage != w.id {
			return err
		}
		if err := then(tx, &m); err != nil {
			return err
		}
		tx.AfterCommit(w.store.Changed)
		return writeMigration(ctx, tx, &m)
	}))
}

// refuse ends a load that cannot go on; its files are drafts again.
func refuse(ctx context.Context, tx *db.Tx, m *threads.Migration, why string) error {
	m.Epoch++
	m.Phase, m.Message = threads.PhaseEmpty, why
	return giveBack(ctx, tx, m)
}
