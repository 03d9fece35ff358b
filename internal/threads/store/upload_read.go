package store

import (
	"context"
	"database/sql"
	"errors"
	"io"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// UploadReader reads an upload from its beginning, in short transactions.
type UploadReader struct {
	ctx  context.Context
	db   *db.DB
	id   int64
	at   int64
	row  []byte
	size int64
}

// Reader opens a complete upload, taken or not.
func (s *Uploads) Reader(ctx context.Context, u threads.Upload) *UploadReader {
	return &UploadReader{ctx: ctx, db: s.db, id: u.ID, size: u.Length}
}

// At is how much was read.
func (r *UploadReader) At() int64 { return r.at - int64(len(r.row)) }

// Read returns what was stored; fault.NotFound when the upload was deleted
// meanwhile.
func (r *UploadReader) Read(p []byte) (int, error) {
	if len(r.row) == 0 {
		if r.at == r.size {
			return 0, io.EOF
		}
		err := r.db.Read(r.ctx, func(tx *db.Tx) error {
			return tx.QueryRow(r.ctx, `SELECT r.data FROM threads_upload_rows r JOIN threads_uploads u ON u.id = r.upload_id
				WHERE r.upload_id = $1 AND r.start = $2 AND u.state <> 'gone'`, r.id, r.at).Scan(&r.row)
		})
		if errors.Is(err, sql.ErrNoRows) {
			return 0, threads.ErrNoUpload(r.id)
		}
		if err != nil {
			return 0, unread{err}
		}
		r.at += int64(len(r.row))
	}
	n := copy(p, r.row)
	r.row = r.row[n:]
	return n, nil
}

// unread is why stored bytes could not be read. It gives its fault, and nothing
// that the fault wraps: a lost connection is an io.ErrUnexpectedEOF in there,
// which readers of files take for a file that is cut off.
type unread struct{ err error }

func (e unread) Error() string      { return "reading an upload: " + e.err.Error() }
func (e unread) As(target any) bool { return errors.As(e.err, target) }
