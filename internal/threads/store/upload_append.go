package store

import (
	"context"
	"errors"
	"io"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

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

// at returns the draft if it is at byte at.
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

// add stores data in one transaction, and returns the draft as it is then. What
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
		n, err := tx.Changed(ctx, "counting what came in",
			`UPDATE threads_uploads SET received = $3, expires_at = $4 WHERE id = $1 AND received = $2 AND state = 'draft'`,
			u.ID, at, to, db.Micros(after.ExpiresAt))
		if err != nil {
			return err
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
			if err := tx.Do(ctx, "storing what came in",
				`INSERT INTO threads_upload_rows (upload_id, start, data) VALUES ($1, $2, $3)`, u.ID, start, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return u, err
	}
	return after, nil
}
