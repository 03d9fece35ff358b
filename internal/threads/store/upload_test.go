package store

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// storedUploads are uploads in a database of either kind.
type storedUploads struct {
	db    *db.DB
	store *Uploads
}

func onUploads(t *testing.T, fn func(*testing.T, *storedUploads)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) { fn(t, &storedUploads{d, NewUploads(d)}) }, schema...)
}

func TestReplacing(t *testing.T) {
	onUploads(t, func(t *testing.T, s *storedUploads) {
		ctx := t.Context()
		first, err := s.store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: 1})
		if open := (*threads.UploadOpenError)(nil); !errors.As(err, &open) || open.Upload.ID != first.ID || !fault.Is(err, fault.Conflict) {
			t.Error("a second one begins beside one that is open:", err)
		}
		if _, err := s.store.AppendWhole(ctx, first.ID, 0, []byte("x")); err != nil {
			t.Fatal(err)
		}
		_, err = s.store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: 1})
		if open := (*threads.UploadOpenError)(nil); !errors.As(err, &open) || open.Upload.ID != first.ID || !fault.Is(err, fault.Conflict) {
			t.Error("a second one begins beside one that is complete:", err)
		}
		second, err := s.store.Replace(ctx, threads.Upload{Kind: "hierarchy", Length: 1})
		if err != nil {
			t.Fatal("a complete draft cannot be replaced:", err)
		}
		if _, err := s.store.Get(ctx, first.ID); !fault.Is(err, fault.NotFound) {
			t.Error("the replaced draft is still there:", err)
		}
		if err := s.store.Delete(ctx, second.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.store.Draft(ctx, "hierarchy"); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
	})
}

// A draft that was taken can only be read.
func TestTaking(t *testing.T) {
	onUploads(t, func(t *testing.T, s *storedUploads) {
		ctx := t.Context()
		u, err := s.store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: 5})
		if err != nil {
			t.Fatal(err)
		}
		take := func() error {
			return s.db.Write(ctx, func(tx *db.Tx) error { return TakeUpload(ctx, tx, u.ID) })
		}
		if err := take(); !fault.Is(err, fault.Conflict) {
			t.Error("an incomplete draft was taken:", err)
		}
		if u, err = s.store.AppendWhole(ctx, u.ID, 0, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if err := take(); err != nil {
			t.Fatal(err)
		}
		if err := s.store.Delete(ctx, u.ID); !fault.Is(err, fault.NotFound) {
			t.Error("what was taken can be deleted:", err)
		}
		if got, err := io.ReadAll(s.store.Reader(ctx, u)); err != nil || string(got) != "hello" {
			t.Error(string(got), err)
		}
		giveBack := func() {
			if err := s.db.Write(ctx, func(tx *db.Tx) error { return giveBackUpload(ctx, tx, u.ID) }); err != nil {
				t.Fatal(err)
			}
		}
		giveBack()
		if _, err := s.store.Get(ctx, u.ID); err != nil {
			t.Error("what was given back is no draft:", err)
		}
		if err := take(); err != nil {
			t.Fatal(err)
		}
		newer, err := s.store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: 5})
		if err != nil {
			t.Fatal("no other draft can begin:", err)
		}
		giveBack()
		if now, err := s.store.Draft(ctx, "hierarchy"); err != nil || now.ID != newer.ID {
			t.Error("the newer draft lost to one that was given back:", now, err)
		}
	})
}

func TestExpiryAndSweep(t *testing.T) {
	onUploads(t, func(t *testing.T, s *storedUploads) {
		ctx := t.Context()
		u, err := s.store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: 20 * uploadRow})
		if err != nil {
			t.Fatal(err)
		}
		if u, err = s.store.Append(ctx, u.ID, 0, strings.NewReader(strings.Repeat("x", 10*uploadRow))); err != nil {
			t.Fatal(err)
		}
		if more, err := s.store.sweep(ctx); more || err != nil {
			t.Fatal("a draft was swept:", err)
		}
		later := func() { // a day passes
			if err := s.db.Write(ctx, func(tx *db.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE threads_uploads SET expires_at = expires_at - $1`, (24*time.Hour + time.Second).Microseconds())
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		later()
		if _, err := s.store.Append(ctx, u.ID, u.Received, strings.NewReader("y")); !fault.Is(err, fault.NotFound) {
			t.Error("an expired draft goes on:", err)
		}
		if _, err := s.store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: 1}); err != nil {
			t.Error("an expired draft is in the way:", err)
		}
		for range 100 {
			if more, err := s.store.sweep(ctx); err != nil {
				t.Fatal(err)
			} else if !more {
				break
			}
		}
		var rows, uploads int
		if err := s.db.Read(ctx, func(tx *db.Tx) error {
			if err := tx.QueryRow(ctx, `SELECT count(*) FROM threads_upload_rows`).Scan(&rows); err != nil {
				return err
			}
			return tx.QueryRow(ctx, `SELECT count(*) FROM threads_uploads`).Scan(&uploads)
		}); err != nil || rows != 0 || uploads != 1 {
			t.Error(rows, "rows and", uploads, "uploads are left", err)
		}
	})
}

// Whatever is sent in whatever order, a draft is the beginning of the file,
// as long as HEAD says.
func TestAnySequence(t *testing.T) {
	d := dbtest.SQLite(t, Migrations)
	if err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	store, ctx := NewUploads(d), context.WithoutCancel(t.Context())
	file := strings.Repeat("0123456789", 120_000)
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(0, len(file)).Draw(t, "length")
		u, err := store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: int64(length)})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for range rapid.IntRange(1, 8).Draw(t, "parts") {
			from := rapid.OneOf(rapid.Just(at), rapid.IntRange(0, length)).Draw(t, "from")
			to := from + rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 2*uploadRow)).Draw(t, "size")
			sent := file[min(from, len(file)):min(to, len(file))]
			broken := rapid.Bool().Draw(t, "broken")
			var in io.Reader = strings.NewReader(sent)
			if broken {
				in = io.MultiReader(in, errReader{})
			}
			got, err := store.Append(ctx, u.ID, int64(from), in)
			switch {
			case from != at:
				if !fault.Is(err, fault.Conflict) || got.Received != int64(at) {
					t.Fatal("another place was taken:", err)
				}
			case from+len(sent) > length:
				if !fault.Is(err, fault.TooLarge) {
					t.Fatal("more than the file was taken:", err)
				}
				at = int(got.Received)
			case (err != nil) != broken:
				t.Fatal(err)
			default:
				at = from + len(sent)
			}
			now, err := store.Get(ctx, u.ID)
			if err != nil || now.Received != int64(at) {
				t.Fatal("it is at", now.Received, "and should be at", at, err)
			}
		}
		u.Length = int64(at)
		if got, err := io.ReadAll(store.Reader(ctx, u)); err != nil || string(got) != file[:at] {
			t.Fatal("what is stored is not the file's beginning", err)
		}
		if err := store.Delete(ctx, u.ID); err != nil {
			t.Fatal(err)
		}
	})
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
