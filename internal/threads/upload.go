package threads

import (
	"fmt"
	"time"

	"outrigger/internal/fault"
)

// Upload is a file that comes in, or as much of it as came. One that came in
// whole is a draft until it is taken for use; there is one draft of a kind at a
// time.
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

// ErrNoUpload is fault.NotFound for an upload that is not there.
func ErrNoUpload(id int64) error {
	return fault.New(fault.NotFound, "There is no upload %d: it was deleted, replaced, loaded or has expired. Begin a new one.", id)
}

// ErrUploadOffset refuses bytes that do not go on where the upload is.
func ErrUploadOffset(u Upload, at int64) error {
	return fault.New(fault.Conflict, "The upload %d is at byte %d, not at %d; ask where it is with HEAD and go on from there.", u.ID, u.Received, at)
}

// UploadOpenError says that a file of the kind is being sent already.
type UploadOpenError struct{ Upload Upload }

func (o *UploadOpenError) Error() string {
	return fmt.Sprintf("upload %d of kind %s is open", o.Upload.ID, o.Upload.Kind)
}

// Unwrap gives what may be shown.
func (o *UploadOpenError) Unwrap() error {
	return fault.New(fault.Conflict, "A %s file is already being uploaded, as upload %d; continue that upload, or delete it.", o.Upload.Kind, o.Upload.ID)
}
