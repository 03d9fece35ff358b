package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

const (
	// uploadRow is how much of a file is one row, and one commit: large enough
	// that commits cost little, small enough for a slice of bulk work.
	uploadRow = 1 << 20

	// uploadKept is how long a draft is kept after its last byte came in.
	uploadKept = 24 * time.Hour
)

// Uploads keeps files that come in, however large and however often the way
// here breaks off, in rows of the database, so that any node can go on with one.
// The package api takes them by tus 1.0.0
// (https://tus.io/protocols/resumable-upload).
type Uploads struct {
	db *db.DB
}

// NewUploads makes a store on a migrated database.
func NewUploads(d *db.DB) *Uploads { return &Uploads{db: d} }

const uploadColumns = `id, kind, length, received, metadata, filename, created_by, created_at, expires_at`

func scanUpload(row db.Row) (u threads.Upload, err error) {
	var created, expires int64
	err = row.Scan(&u.ID, &u.Kind, &u.Length, &u.Received, &u.Metadata, &u.Filename, &u.CreatedBy, &created, &expires)
	u.CreatedAt, u.ExpiresAt = db.Time(created), db.Time(expires)
	return u, err
}

// Create begins an upload of u's kind, length, file name and metadata, and
// replaces a complete draft of that kind. While one is being sent it is an
// Open error, which is fault.Conflict.
func (s *Uploads) Create(ctx context.Context, u threads.Upload) (threads.Upload, error) {
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		old, err := readDraft(ctx, tx, u.Kind)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case !old.Complete() && tx.Now().Before(old.ExpiresAt):
			return &threads.UploadOpenError{Upload: old}
		default:
			if err := setUploadState(ctx, tx, old.ID, "gone"); err != nil {
				return err
			}
		}
		u.Received, u.CreatedAt, u.ExpiresAt = 0, tx.Now(), tx.Now().Add(uploadKept)
		return tx.QueryRow(ctx, `INSERT INTO threads_uploads (kind, state, length, received, metadata, filename, created_by, created_at, expires_at)
			VALUES ($1, 'draft', $2, 0, $3, $4, $5, $6, $7) RETURNING id`,
			u.Kind, u.Length, u.Metadata, u.Filename, u.CreatedBy, db.Micros(u.CreatedAt), db.Micros(u.ExpiresAt)).Scan(&u.ID)
	})
	if db.IsUnique(err) { // another one began at the same time
		if old, gone := s.Draft(ctx, u.Kind); gone == nil {
			err = &threads.UploadOpenError{Upload: old}
		}
	}
	var open *threads.UploadOpenError
	if err != nil && !errors.As(err, &open) {
		return threads.Upload{}, fmt.Errorf("beginning an upload: %w", err)
	}
	return u, err
}

func readDraft(ctx context.Context, tx *db.Tx, kind string) (threads.Upload, error) {
	u, err := scanUpload(tx.QueryRow(ctx, `SELECT `+uploadColumns+` FROM threads_uploads WHERE kind = $1 AND state = 'draft'`, kind))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("reading the draft: %w", err)
	}
	return u, err
}

func setUploadState(ctx context.Context, tx *db.Tx, id int64, state string) error {
	if _, err := tx.Exec(ctx, `UPDATE threads_uploads SET state = $2 WHERE id = $1`, id, state); err != nil {
		return fmt.Errorf("making the upload %s: %w", state, err)
	}
	return nil
}

// Get gives a draft: fault.NotFound when there is none with the id.
func (s *Uploads) Get(ctx context.Context, id int64) (u threads.Upload, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		u, err = readUpload(ctx, tx, id)
		return err
	})
	return u, err
}

func readUpload(ctx context.Context, tx *db.Tx, id int64) (threads.Upload, error) {
	u, err := scanUpload(tx.QueryRow(ctx, `SELECT `+uploadColumns+` FROM threads_uploads WHERE id = $1 AND state = 'draft' AND expires_at > $2`, id, db.Micros(tx.Now())))
	if errors.Is(err, sql.ErrNoRows) {
		return u, threads.ErrNoUpload(id)
	}
	if err != nil {
		return u, fmt.Errorf("reading an upload: %w", err)
	}
	return u, nil
}

// Draft gives the draft of a kind, complete or not: fault.NotFound when there
// is none.
func (s *Uploads) Draft(ctx context.Context, kind string) (u threads.Upload, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		u, err = uploadDraft(ctx, tx, kind)
		return err
	})
	return u, err
}

// uploadDraft is Draft in the caller's transaction.
func uploadDraft(ctx context.Context, tx *db.Tx, kind string) (threads.Upload, error) {
	u, err := readDraft(ctx, tx, kind)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !tx.Now().Before(u.ExpiresAt) {
		return threads.Upload{}, fault.New(fault.NotFound, "There is no draft of the %s file.", kind)
	}
	return u, err
}

// List gives the drafts, the oldest first.
func (s *Uploads) List(ctx context.Context) (list []threads.Upload, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list = nil
		rows, err := tx.Query(ctx, `SELECT `+uploadColumns+` FROM threads_uploads WHERE state = 'draft' AND expires_at > $1 ORDER BY id`, db.Micros(tx.Now()))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			u, err := scanUpload(rows)
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
func (s *Uploads) Append(ctx context.Context, id, at int64, r io.Reader) (threads.Upload, error) {
	u, err := s.at(ctx, id, at)
	if err != nil {
		return u, err
	}
	buf := make([]byte, min(uploadRow, u.Length-at)+1)
	for {
		want := min(uploadRow, u.Length-u.Received)
		if want < uploadRow {
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
func (s *Uploads) AppendWhole(ctx context.Context, id, at int64, data []byte) (threads.Upload, error) {
	u, err := s.at(ctx, id, at)
	if err != nil || len(data) == 0 {
		return u, err
	}
	return s.add(ctx, u, data)
}

// at gives the draft if it is at byte at.
func (s *Uploads) at(ctx context.Context, id, at int64) (threads.Upload, error) {
	u, err := s.Get(ctx, id)
	if err == nil && u.Received != at {
		err = threads.ErrUploadOffset(u, at)
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
func (s *Uploads) add(ctx context.Context, u threads.Upload, data []byte) (threads.Upload, error) {
	ctx = context.WithoutCancel(ctx)
	at, to := u.Received, u.Received+int64(len(data))
	if to > u.Length {
		return u, fault.New(fault.TooLarge, "The upload %d was begun for %d bytes, and more came.", u.ID, u.Length)
	}
	after := u
	err := s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		after.Received, after.ExpiresAt = to, tx.Now().Add(uploadKept)
		n, err := tx.Exec(ctx, `UPDATE threads_uploads SET received = $3, expires_at = $4 WHERE id = $1 AND received = $2 AND state = 'draft'`,
			u.ID, at, to, db.Micros(after.ExpiresAt))
		if err != nil {
			return fmt.Errorf("counting what came in: %w", err)
		}
		if n == 0 {
			now, err := readUpload(ctx, tx, u.ID)
			if err == nil {
				err = threads.ErrUploadOffset(now, at)
			}
			return err
		}
		for start := at; start < to; start += uploadRow {
			row := data[start-at : min(start-at+uploadRow, to-at)]
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
func (s *Uploads) Delete(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := readUpload(ctx, tx, id); err != nil {
			return err
		}
		return setUploadState(ctx, tx, id, "gone")
	})
}

// TakeUpload has a complete draft kept as it is for its reader, in the caller's
// transaction: from here on it can be neither added to nor replaced nor
// deleted, and does not expire. Another draft of the kind may begin.
// fault.Conflict when it is not complete, or no draft any more.
func TakeUpload(ctx context.Context, tx *db.Tx, id int64) error {
	n, err := tx.Exec(ctx, `UPDATE threads_uploads SET state = 'taken' WHERE id = $1 AND state = 'draft' AND received = length`, id)
	if err != nil {
		return fmt.Errorf("taking an upload: %w", err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "The upload %d is not complete, or was replaced meanwhile.", id)
	}
	return nil
}

// giveBackUpload makes a draft of what was taken, unless there is another by now.
func giveBackUpload(ctx context.Context, tx *db.Tx, id int64) error {
	if _, err := tx.Exec(ctx, `UPDATE threads_uploads SET expires_at = $2,
			state = CASE WHEN EXISTS (SELECT 1 FROM threads_uploads o WHERE o.kind = threads_uploads.kind AND o.state = 'draft') THEN 'gone' ELSE 'draft' END
		WHERE id = $1 AND state = 'taken'`, id, db.Micros(tx.Now().Add(uploadKept))); err != nil {
		return fmt.Errorf("giving an upload back: %w", err)
	}
	return nil
}

// DropUpload has an upload deleted, in the caller's transaction.
func DropUpload(ctx context.Context, tx *db.Tx, id int64) error {
	return setUploadState(ctx, tx, id, "gone")
}

// findUpload gives an upload that is a draft or taken, in the caller's transaction:
// fault.NotFound when it is neither.
func findUpload(ctx context.Context, tx *db.Tx, id int64) (threads.Upload, error) {
	u, err := scanUpload(tx.QueryRow(ctx, `SELECT `+uploadColumns+` FROM threads_uploads WHERE id = $1 AND state <> 'gone'`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return u, threads.ErrNoUpload(id)
	}
	if err != nil {
		return u, fmt.Errorf("reading an upload: %w", err)
	}
	return u, nil
}
