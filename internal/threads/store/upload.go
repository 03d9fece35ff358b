package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outrigger/internal/audit"
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

const uploadColumns = `id, kind, length, received, metadata, filename, created_by, created_at, expires_at, site`

func scanUpload(row db.Row) (u threads.Upload, err error) {
	err = row.Scan(&u.ID, &u.Kind, &u.Length, &u.Received, &u.Metadata, &u.Filename, &u.CreatedBy,
		db.At(&u.CreatedAt), db.At(&u.ExpiresAt), &u.Site)
	return u, err
}

// Create begins an upload of u's kind, length, file name, site and metadata. While there
// is another one of that kind, sent or being sent, it is a threads.UploadOpenError,
// which is fault.Conflict.
func (s *Uploads) Create(ctx context.Context, u threads.Upload) (threads.Upload, error) {
	return s.create(ctx, u, func(tx *db.Tx, old threads.Upload) error { return &threads.UploadOpenError{Upload: old, Now: tx.Now()} })
}

// Replace is Create, and takes the place of another upload of the kind.
func (s *Uploads) Replace(ctx context.Context, u threads.Upload) (threads.Upload, error) {
	return s.create(ctx, u, func(tx *db.Tx, old threads.Upload) error {
		if err := dropDraft(ctx, tx, old.ID); err != nil {
			return err
		}
		before := map[string]string{"kind": old.Kind, "file": old.Filename, draftOwner: old.CreatedBy, "bytes": fmt.Sprint(old.Received)}
		return record(ctx, tx, actionReplace, objectDraft, before, map[string]string{"file": u.Filename, draftOwner: u.CreatedBy})
	})
}

// create begins an upload; meet decides about one that is there.
func (s *Uploads) create(ctx context.Context, u threads.Upload, meet func(*db.Tx, threads.Upload) error) (threads.Upload, error) {
	var now time.Time
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		now = tx.Now()
		old, err := oneUpload(ctx, tx, errNone, `kind = $1 AND state = 'draft'`, u.Kind)
		switch {
		case errors.Is(err, errNone):
		case err != nil:
			return err
		case now.Before(old.ExpiresAt):
			if err := meet(tx, old); err != nil {
				return err
			}
		default:
			if err := dropDraft(ctx, tx, old.ID); err != nil {
				return err
			}
		}
		u.Received, u.CreatedAt, u.ExpiresAt = 0, now, now.Add(uploadKept)
		return tx.QueryRow(ctx, `INSERT INTO threads_uploads (kind, state, length, received, metadata, filename, created_by, created_at,
			expires_at, site)
			VALUES ($1, 'draft', $2, 0, $3, $4, $5, $6, $7, $8) RETURNING id`,
			u.Kind, u.Length, u.Metadata, u.Filename, u.CreatedBy, db.Micros(u.CreatedAt), db.Micros(u.ExpiresAt), u.Site).Scan(&u.ID)
	})
	if db.IsUnique(err) { // another one began at the same time
		if old, gone := s.Draft(ctx, u.Kind); gone == nil {
			err = &threads.UploadOpenError{Upload: old, Now: now}
		}
	}
	var open *threads.UploadOpenError
	if err != nil && !errors.As(err, &open) {
		return threads.Upload{}, fmt.Errorf("beginning an upload: %w", err)
	}
	return u, err
}

var errNone = errors.New("there is no draft")

// oneUpload returns the upload that a condition selects, or none where there is none.
func oneUpload(ctx context.Context, tx *db.Tx, none error, where string, args ...any) (threads.Upload, error) {
	return db.One(ctx, tx, none, scanUpload, `SELECT `+uploadColumns+` FROM threads_uploads WHERE `+where, args...)
}

// dropDraft has a draft deleted, unless it was taken since it was read.
func dropDraft(ctx context.Context, tx *db.Tx, id int64) error {
	return tx.Do(ctx, "deleting a draft", `UPDATE threads_uploads SET state = 'gone' WHERE id = $1 AND state = 'draft'`, id)
}

// Get returns a draft: fault.NotFound when there is none with the id.
func (s *Uploads) Get(ctx context.Context, id int64) (threads.Upload, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (threads.Upload, error) { return readUpload(ctx, tx, id) })
}

func readUpload(ctx context.Context, tx *db.Tx, id int64) (threads.Upload, error) {
	return oneUpload(ctx, tx, threads.ErrNoUpload(id), `id = $1 AND state = 'draft' AND expires_at > $2`, id, db.Micros(tx.Now()))
}

// Draft returns the draft of a kind, complete or not: fault.NotFound when there
// is none.
func (s *Uploads) Draft(ctx context.Context, kind string) (threads.Upload, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (threads.Upload, error) { return uploadDraft(ctx, tx, kind) })
}

// uploadDraft is Draft in the caller's transaction.
func uploadDraft(ctx context.Context, tx *db.Tx, kind string) (threads.Upload, error) {
	return oneUpload(ctx, tx, fault.New(fault.NotFound, "There is no draft of the %s file.", kind),
		`kind = $1 AND state = 'draft' AND expires_at > $2`, kind, db.Micros(tx.Now()))
}

// List returns the drafts, the oldest first.
func (s *Uploads) List(ctx context.Context) ([]threads.Upload, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]threads.Upload, error) {
		return db.List(ctx, tx, "listing uploads", scanUpload,
			`SELECT `+uploadColumns+` FROM threads_uploads WHERE state = 'draft' AND expires_at > $1 ORDER BY id`, db.Micros(tx.Now()))
	})
}

// Replacement is a file in whose place another one was sent.
type Replacement struct {
	Kind, Filename string
	With           string // the other file's name
	By             string // who sent that
	At             time.Time
}

// maxReplaced bounds what is looked through for one reader: more than a page can say.
const maxReplaced = 100

// Replaced lists the files of a user that others have replaced in the time for which a
// file is kept, the newest first.
func (s *Store) Replaced(ctx context.Context, owner string) (list []Replacement, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list = nil
		found, err := audit.List(ctx, tx, audit.Visible{All: true}, audit.Filter{
			Area: auditArea, Object: objectDraft, Action: actionReplace, Since: tx.Now().Add(-uploadKept), Limit: maxReplaced,
		})
		for _, e := range found {
			if e.Before[draftOwner] == owner && e.Who != owner {
				list = append(list, Replacement{e.Before["kind"], e.Before["file"], e.After["file"], e.Who, e.At})
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for replaced files: %w", err)
	}
	return list, nil
}

// Delete deletes a draft: fault.NotFound when there is none with the id.
func (s *Uploads) Delete(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		return tx.ChangeOne(ctx, "deleting an upload", threads.ErrNoUpload(id),
			`UPDATE threads_uploads SET state = 'gone' WHERE id = $1 AND state = 'draft' AND expires_at > $2`, id, db.Micros(tx.Now()))
	})
}

// TakeUpload has a complete draft kept as it is for its reader, in the caller's
// transaction: from here on it can be neither added to nor replaced nor
// deleted, and does not expire. Another draft of the kind may begin.
// fault.Conflict when it is not complete, or no draft any more.
func TakeUpload(ctx context.Context, tx *db.Tx, id int64) error {
	return tx.ChangeOne(ctx, "taking an upload", fault.New(fault.Conflict, "The upload %d is not complete, or was replaced meanwhile.", id),
		`UPDATE threads_uploads SET state = 'taken' WHERE id = $1 AND state = 'draft' AND received = length`, id)
}

// giveBackUpload makes a draft of what was taken, unless there is another by now.
func giveBackUpload(ctx context.Context, tx *db.Tx, id int64) error {
	return tx.Do(ctx, "giving an upload back", `UPDATE threads_uploads SET expires_at = $2,
			state = CASE WHEN EXISTS (SELECT 1 FROM threads_uploads o WHERE o.kind = threads_uploads.kind AND o.state = 'draft') THEN 'gone'
			ELSE 'draft' END
		WHERE id = $1 AND state = 'taken'`, id, db.Micros(tx.Now().Add(uploadKept)))
}

// DropUpload has an upload deleted, in the caller's transaction.
func DropUpload(ctx context.Context, tx *db.Tx, id int64) error {
	return tx.Do(ctx, "dropping an upload", `UPDATE threads_uploads SET state = 'gone' WHERE id = $1`, id)
}

// findUpload returns an upload that is a draft or taken, in the caller's transaction:
// fault.NotFound when it is neither.
func findUpload(ctx context.Context, tx *db.Tx, id int64) (threads.Upload, error) {
	return oneUpload(ctx, tx, threads.ErrNoUpload(id), `id = $1 AND state <> 'gone'`, id)
}
