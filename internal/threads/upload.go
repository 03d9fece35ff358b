package threads

import (
	"cmp"
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
	Site      string // that an id mappings report is for, as SiteURL writes it; "" if it was not given
	Metadata  string // as it was sent: names and values in base64
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time // when it is deleted unless it is added to or taken
}

// Complete reports whether the whole file came in.
func (u Upload) Complete() bool { return u.Received == u.Length }

// Draft is the upload's name.
func (u Upload) Draft() Draft {
	return Draft{ID: u.ID, Filename: u.Filename, CreatedBy: u.CreatedBy, CreatedAt: u.CreatedAt}
}

// ErrNoUpload is fault.NotFound for an upload that is not there.
func ErrNoUpload(id int64) error {
	return fault.New(fault.NotFound, "There is no upload %d: it was deleted, replaced, loaded or has expired. Begin a new one.", id)
}

// ErrUploadOffset refuses bytes that do not go on where the upload is.
func ErrUploadOffset(u Upload, at int64) error {
	return fault.New(fault.Conflict, "The upload %d is at byte %d, not at %d; ask where it is with HEAD and go on from there.", u.ID,
		u.Received, at)
}

// Draft names a file that was sent: by it an administrator says which file is meant.
type Draft struct {
	ID     int64  `json:"id" min:"0" doc:"The id that it had as an upload."`
	SHA256 string `json:"sha256,omitempty" doc:"Its digest, in hexadecimal; absent while the file has not been read."`

	// What people know it by; it is not compared.
	Filename  string    `json:"filename,omitempty" doc:"What it was called where it was sent from."`
	CreatedBy string    `json:"createdBy,omitempty" doc:"Who sent it."`
	CreatedAt time.Time `json:"createdAt,omitzero" doc:"When it was begun."`
}

// MemberWords are those of the file.
func (Draft) MemberWords() map[string]string {
	return map[string]string{"": "A file that was sent. Two are the same where `id` and `sha256` are; the other members are ignored " +
		"where a file is named."}
}

// same reports whether both name one file.
func (d Draft) same(other Draft) bool { return d.ID == other.ID && d.SHA256 == other.SHA256 }

// String is the draft in words.
func (d Draft) String() string {
	text := fmt.Sprintf("id %d", d.ID)
	if d.SHA256 != "" {
		text += ", sha256 " + d.SHA256
	}
	if d.Filename != "" {
		text += ", " + d.Filename
	}
	if d.CreatedBy != "" {
		text += ", from " + d.CreatedBy
	}
	return text
}

// Drafts are the two files of a migration.
type Drafts struct {
	Hierarchy Draft `json:"hierarchy"`
	Mappings  Draft `json:"mappings"`
}

// Same reports whether both name the same two files.
func (d Drafts) Same(other Drafts) bool {
	return d.Hierarchy.same(other.Hierarchy) && d.Mappings.same(other.Mappings)
}

// ErrNotNamed refuses an operation that names no files, or others than there are.
func (d Drafts) ErrNotNamed(named Drafts) *fault.Error {
	const how = "Look at them, then name them: {\"hierarchy\": {\"id\": …, \"sha256\": …}, \"mappings\": {…}}, as the preview " +
		"shows them under drafts."
	e := fault.New(fault.Conflict, "The files are not named. %s", how)
	if named != (Drafts{}) {
		e = fault.New(fault.Conflict, "The files are not those that are named: they were replaced, or have been read since. %s", how)
	}
	e.Fields = []fault.Field{{Name: HierarchyFile, Message: d.Hierarchy.String()}, {Name: MappingsFile, Message: d.Mappings.String()}}
	return e
}

// UploadOpenError says that there is a file of the kind already, sent or being sent.
type UploadOpenError struct {
	Upload Upload
	Now    time.Time
}

func (o *UploadOpenError) Error() string {
	return fmt.Sprintf("there is upload %d of kind %s", o.Upload.ID, o.Upload.Kind)
}

// Unwrap returns what may be shown.
func (o *UploadOpenError) Unwrap() error { return o.Conflict(fmt.Sprintf("upload %d", o.Upload.ID)) }

// Conflict says whose file there is; where is how its reader finds it.
func (o *UploadOpenError) Conflict(where string) *fault.Error {
	u := o.Upload
	name := cmp.Or(u.Filename, "a file without a name")
	state, way := "is already here and has not been loaded", "load it, delete it"
	if !u.Complete() {
		state, way = "is already being uploaded", "continue with it, delete it"
	}
	return fault.New(fault.Conflict, "A %s file %s: %s from %s, begun %s ago, at %s; %s, or replace it (replace in Upload-Metadata).",
		u.Kind, state, name, u.CreatedBy, age(o.Now.Sub(u.CreatedAt)), where, way)
}

// age is a length of time in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return Counted(int64(max(d, 0)/time.Second), "second")
	case d < time.Hour:
		return Counted(int64(d/time.Minute), "minute")
	}
	return Counted(int64(d/time.Hour), "hour")
}
