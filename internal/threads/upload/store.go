package upload

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

//go:embed migrations
var migrations embed.FS

// Migrations are the tables of uploads.
var Migrations = db.Migrations{Name: "threads/upload", FS: migrations}

// Store keeps uploads.
type Store struct {
	db *db.DB
}

// NewStore makes a store on a migrated database.
func NewStore(d *db.DB) *Store { return &Store{db: d} }

const columns = `id, kind, length, received, metadata, filename, created_by, created_at, expires_at`

func scan(row db.Row) (u Upload, err error) {
	var created, expires int64
	err = row.Scan(&u.ID, &u.Kind, &u.Length, &u.Received, &u.Metadata, &u.Filename, &u.CreatedBy, &created, &expires)
	u.CreatedAt, u.ExpiresAt = db.Time(created), db.Time(expires)
	return u, err
}

// Create begins an upload of u's kind, length, file name and metadata, and
// replaces a complete draft of that kind. While one is being sent it is an
// Open error, which is fault.Conflict.
func (s *Store) Create(ctx context.Context, u Upload) (Upload, error) {
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		old, err := draft(ctx, tx, u.Kind)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case !old.Complete() && tx.Now().Before(old.ExpiresAt):
			return &Open{old}
		default:
			if err := setState(ctx, tx, old.ID, "gone"); err != nil {
				return err
			}
		}
		u.Received, u.CreatedAt, u.ExpiresAt = 0, tx.Now(), tx.Now().Add(keep)
		return tx.QueryRow(ctx, `INSERT INTO threads_uploads (kind, state, length, received, metadata, filename, created_by, created_at, expires_at)
			VALUES ($1, 'draft', $2, 0, $3, $4, $5, $6, $7) RETURNING id`,
			u.Kind, u.Length, u.Metadata, u.Filename, u.CreatedBy, db.Micros(u.CreatedAt), db.Micros(u.ExpiresAt)).Scan(&u.ID)
	})
	if db.IsUnique(err) { // another one began at the same time
		if old, gone := s.Draft(ctx, u.Kind); gone == nil {
			err = &Open{old}
		}
	}
	var open *Open
	if err != nil && !errors.As(err, &open) {
		return Upload{}, fmt.Errorf("beginning an upload: %w", err)
	}
	return u, err
}

// Open says that a file of the kind is being sent already.
type Open struct{ Upload Upload }

func (o *Open) Error() string {
	return fmt.Sprintf("upload %d of kind %s is open", o.Upload.ID, o.Upload.Kind)
}

// Unwrap gives what may be shown.
func (o *Open) Unwrap() error {
	return fault.New(fault.Conflict, "A %s file is being sent already, as upload %d; go on with that, or delete it.", o.Upload.Kind, o.Upload.ID)
}

func draft(ctx context.Context, tx *db.Tx, kind string) (Upload, error) {
	u, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM threads_uploads WHERE kind = $1 AND state = 'draft'`, kind))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("reading the draft: %w", err)
	}
	return u, err
}

func setState(ctx context.Context, tx *db.Tx, id int64, state string) error {
	if _, err := tx.Exec(ctx, `UPDATE threads_uploads SET state = $2 WHERE id = $1`, id, state); err != nil {
		return fmt.Errorf("making the upload %s: %w", state, err)
	}
	return nil
}

// Get gives a draft: fault.NotFound when there is none with the id.
func (s *Store) Get(ctx context.Context, id int64) (u Upload, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		u, err = get(ctx, tx, id)
		return err
	})
	return u, err
}

func get(ctx context.Context, tx *db.Tx, id int64) (Upload, error) {
	u, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM threads_uploads WHERE id = $1 AND state = 'draft' AND expires_at > $2`, id, db.Micros(tx.Now())))
	if errors.Is(err, sql.ErrNoRows) {
		return u, errNone(id)
	}
	if err != nil {
		return u, fmt.Errorf("reading an upload: %w", err)
	}
	return u, nil
}

// Draft gives the draft of a kind, complete or not: fault.NotFound when there
// is none.
func (s *Store) Draft(ctx context.Context, kind string) (u Upload, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		u, err = DraftIn(ctx, tx, kind)
		return err
	})
	return u, err
}

// DraftIn is Draft in the caller's transaction.
func DraftIn(ctx context.Context, tx *db.Tx, kind string) (Upload, error) {
	u, err := draft(ctx, tx, kind)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !tx.Now().Before(u.ExpiresAt) {
		return Upload{}, fault.New(fault.NotFound, "There is no draft of the %s file.", kind)
	}
	return u, err
}

// List gives the drafts, the oldest first.
func (s *Store) List(ctx context.Context) (list []Upload, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list = nil
		rows, err := tx.Query(ctx, `SELECT `+columns+` FROM threads_uploads WHERE state = 'draft' AND expires_at > $1 ORDER BY id`, db.Micros(tx.Now()))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			u, err := scan(rows)
			if err != nil {
				return err
			}
			list = append(list, u)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("listing uploads: %w", err)
	}
	return list, nil
}

// Append adds what r gives to a draft that is at byte at, a commit a row, and
// gives the draft as it is then. What came in before an error of r is kept.
// More than the file's length is fault.TooLarge; another place than at is
// fault.Conflict.
func (s *Store) Append(ctx context.Context, id, at int64, r io.Reader) (Upload, error) {
	u, err := s.at(ctx, id, at)
	if err != nil {
		return u, err
	}
	buf := make([]byte, min(rowSize, u.Length-at)+1)
	for {
		want := min(rowSize, u.Length-u.Received)
		if want < rowSize {
			want++ // one byte too many shows
		}
		n, readErr := fill(r, buf[:want])
		if n > 0 {
			if u, err = s.add(ctx, u, buf[:n]); err != nil {
				return u, err
			}
		}
		switch {
		case errors.Is(readErr, io.EOF):
			return u, nil
		case readErr != nil:
			return u, fault.Wrap(readErr, fault.Invalid, "The body broke off; ask where the upload is with HEAD and go on from there.")
		}
	}
}

// AppendWhole adds data to a draft that is at byte at, all of it or nothing.
func (s *Store) AppendWhole(ctx context.Context, id, at int64, data []byte) (Upload, error) {
	u, err := s.at(ctx, id, at)
	if err != nil || len(data) == 0 {
		return u, err
	}
	return s.add(ctx, u, data)
}

// at gives the draft if it is at byte at.
func (s *Store) at(ctx context.Context, id, at int64) (Upload, error) {
	u, err := s.Get(ctx, id)
	if err == nil && u.Received != at {
		err = ErrOffset(u, at)
	}
	return u, err
}

// fill reads until p is full or r has an error; io.EOF is the end of r alone.
func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// add stores data in one transaction, and gives the draft as it is then. What
// is here is kept, also when its sender has gone.
func (s *Store) add(ctx context.Context, u Upload, data []byte) (Upload, error) {
	ctx = context.WithoutCancel(ctx)
	at, to := u.Received, u.Received+int64(len(data))
	if to > u.Length {
		return u, fault.New(fault.TooLarge, "The upload %d was begun for %d bytes, and more came.", u.ID, u.Length)
	}
	after := u
	err := s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		after.Received, after.ExpiresAt = to, tx.Now().Add(keep)
		n, err := tx.Exec(ctx, `UPDATE threads_uploads SET received = $3, expires_at = $4 WHERE id = $1 AND received = $2 AND state = 'draft'`,
			u.ID, at, to, db.Micros(after.ExpiresAt))
		if err != nil {
			return fmt.Errorf("counting what came in: %w", err)
		}
		if n == 0 {
			now, err := get(ctx, tx, u.ID)
			if err == nil {
				err = ErrOffset(now, at)
			}
			return err
		}
		for start := at; start < to; start += rowSize {
			row := data[start-at : min(start-at+rowSize, to-at)]
			if _, err := tx.Exec(ctx, `INSERT INTO threads_upload_rows (upload_id, start, data) VALUES ($1, $2, $3)`, u.ID, start, row); err != nil {
				return fmt.Errorf("storing what came in: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return u, err
	}
	return after, nil
}

// Delete deletes a draft: fault.NotFound when there is none with the id.
func (s *Store) Delete(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := get(ctx, tx, id); err != nil {
			return err
		}
		return setState(ctx, tx, id, "gone")
	})
}

// Take has a complete draft kept as it is for its reader, in the caller's
// transaction: from here on it can be neither added to nor replaced nor
// deleted, and does not expire. Another draft of the kind may begin.
// fault.Conflict when it is not complete, or no draft any more.
func Take(ctx context.Context, tx *db.Tx, id int64) error {
	n, err := tx.Exec(ctx, `UPDATE threads_uploads SET state = 'taken' WHERE id = $1 AND state = 'draft' AND received = length`, id)
	if err != nil {
		return fmt.Errorf("taking an upload: %w", err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "The upload %d is not complete, or was replaced meanwhile.", id)
	}
	return nil
}

// GiveBack makes a draft of what was taken, unless there is another by now.
func GiveBack(ctx context.Context, tx *db.Tx, id int64) error {
	if _, err := tx.Exec(ctx, `UPDATE threads_uploads SET expires_at = $2,
			state = CASE WHEN EXISTS (SELECT 1 FROM threads_uploads o WHERE o.kind = threads_uploads.kind AND o.state = 'draft') THEN 'gone' ELSE 'draft' END
		WHERE id = $1 AND state = 'taken'`, id, db.Micros(tx.Now().Add(keep))); err != nil {
		return fmt.Errorf("giving an upload back: %w", err)
	}
	return nil
}

// Drop has an upload deleted, in the caller's transaction.
func Drop(ctx context.Context, tx *db.Tx, id int64) error { return setState(ctx, tx, id, "gone") }

// Find gives an upload that is a draft or taken, in the caller's transaction:
// fault.NotFound when it is neither.
func Find(ctx context.Context, tx *db.Tx, id int64) (Upload, error) {
	u, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM threads_uploads WHERE id = $1 AND state <> 'gone'`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return u, errNone(id)
	}
	if err != nil {
		return u, fmt.Errorf("reading an upload: %w", err)
	}
	return u, nil
}
