// Package upload keeps files that come in, however large and however often the
// way here breaks off, in rows of the database, so that any node can go on with
// one. The package api takes them by tus 1.0.0
// (https://tus.io/protocols/resumable-upload).
//
// A file that came in whole is a draft until it is taken for use. There is one
// draft of a kind at a time.
package upload

import (
	"time"

	"outrigger/internal/fault"
)

// Upload is one file, or as much of it as came in.
type Upload struct {
	ID        int64
	Kind      string
	Length    int64 // of the whole file
	Received  int64 // from its beginning on
	Filename  string
	Metadata  string // as it was sent: names and values in base64
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time // when it is deleted unless it is added to or taken
}

// Complete tells whether the whole file came in.
func (u Upload) Complete() bool { return u.Received == u.Length }

const (
	// rowSize is how much of a file is one row, and one commit: large enough
	// that commits cost little, small enough for a slice of bulk work.
	rowSize = 1 << 20

	// keep is how long a draft is kept after its last byte came in.
	keep = 24 * time.Hour
)

func errNone(id int64) error {
	return fault.New(fault.NotFound, "There is no upload %d: it was deleted, replaced, loaded or has expired. Begin a new one.", id)
}

// ErrOffset refuses bytes that do not go on where the upload is.
func ErrOffset(u Upload, at int64) error {
	return fault.New(fault.Conflict, "The upload %d is at byte %d, not at %d; ask where it is with HEAD and go on from there.", u.ID, u.Received, at)
}
