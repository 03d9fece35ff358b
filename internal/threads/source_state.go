package threads

import (
	"errors"
	"time"

	"outrigger/internal/fault"
)

// SourceState is how the hierarchy stands.
type SourceState struct {
	Records   int64
	ChangedAt time.Time // zero: never
	// Of the mirror:
	MirroredAt time.Time // the last one that went through
	TriedAt    time.Time
	Failure    string // why the last one did not
	// FailingSince is when the first of the failures in a row was.
	FailingSince time.Time
	// Removes is how many records the last one would have removed, where that
	// was too many to do without an administrator's word.
	Removes int64

	Generation int64 // counts the changes of the records
	MayRemove  int64 // what the word was given for
}

// Served is fault.Unavailable while a mirror must not be given out: it was never
// read, or its last reading failed.
func (st *SourceState) Served() error {
	var err *fault.Error
	switch {
	case st.Failure != "":
		err = fault.New(fault.Unavailable, "%s Failing since %s. Nothing is exported until the database is read successfully.", st.Failure,
			st.FailingSince.UTC().Format(time.RFC3339))
	case st.MirroredAt.IsZero():
		err = fault.New(fault.Unavailable, "The hierarchy has not been read from the database of threads.sql yet; ask again soon.")
	default:
		return nil
	}
	err.RetryAfter = servedAgain
	return err
}

// servedAgain is when a mirror that failed is worth another question.
const servedAgain = 10 * time.Second

// ErrTooManyRemoved refuses a slice of a mirror that would remove more records
// than it may.
var ErrTooManyRemoved = errors.New("the database loses records while it is read")
