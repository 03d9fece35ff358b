package store

import (
	"io"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// A file that a load takes while it is deleted, replaced or swept is the load's,
// and stays.
func TestAFileThatIsBeingTakenStays(t *testing.T) {
	onUploads(t, func(t *testing.T, s *storedUploads) {
		ctx := t.Context()
		for _, c := range []struct {
			name    string
			expired bool
			do      func(u threads.Upload) error
			want    fault.Code
		}{
			{"deleted", false, func(u threads.Upload) error { return s.store.Delete(ctx, u.ID) }, fault.NotFound},
			{"replaced", false, func(u threads.Upload) error {
				_, err := s.store.Replace(ctx, threads.Upload{Kind: u.Kind, Length: 1})
				return err
			}, ""},
			{"swept", true, func(threads.Upload) error { _, err := s.store.sweep(ctx); return err }, ""},
		} {
			u, err := s.store.Create(ctx, threads.Upload{Kind: c.name, Length: 5})
			if err == nil {
				u, err = s.store.AppendWhole(ctx, u.ID, 0, []byte("hello"))
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.expired { // since the load looked
				expire(t, s.db, u.ID)
			}
			err = whileTaken(t, s.db, u.ID, func() error { return c.do(u) })
			if (err != nil || c.want != "") && fault.CodeOf(err) != c.want {
				t.Errorf("%s: %v", c.name, err)
			}
			if got, err := io.ReadAll(s.store.Reader(ctx, u)); err != nil || string(got) != "hello" {
				t.Errorf("%s: its content is %q, %v", c.name, got, err)
			}
			if state := uploadState(t, s.db, u.ID); state != "taken" {
				t.Errorf("%s: it is %s", c.name, state)
			}
		}
	})
}

func expire(t *testing.T, d *db.DB, id int64) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE threads_uploads SET expires_at = $2 WHERE id = $1`, id, db.Micros(tx.Now().Add(-time.Second)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// whileTaken begins do while a transaction that takes an upload is open, and
// commits that once do waits for it, or has ended without.
func whileTaken(t *testing.T, d *db.DB, id int64, do func() error) error {
	t.Helper()
	begun, commit, taken, done := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() {
		taken <- d.Write(t.Context(), func(tx *db.Tx) error {
			err := TakeUpload(t.Context(), tx, id)
			close(begun)
			<-commit
			return err
		})
	}()
	<-begun
	go func() { done <- do() }()
	for d.Dialect() == db.Postgres && len(done) == 0 && !waitsForLock(t, d) { // SQLite has one writer, so do has to wait
	}
	close(commit)
	if err := <-taken; err != nil {
		t.Error(err)
	}
	return <-done
}

// waitsForLock reports whether a transaction waits for another.
func waitsForLock(t *testing.T, d *db.DB) (waits bool) {
	t.Helper()
	if err := d.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
			WHERE NOT l.granted AND a.datname = current_database())`).Scan(&waits)
	}); err != nil {
		t.Error(err)
	}
	return waits
}

func uploadState(t *testing.T, d *db.DB, id int64) (state string) {
	t.Helper()
	if err := d.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT state FROM threads_uploads WHERE id = $1`, id).Scan(&state)
	}); err != nil {
		t.Error(err)
	}
	return state
}
