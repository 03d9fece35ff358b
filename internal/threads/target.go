package threads

import (
	"context"
	"fmt"
	"time"
)

// Target is where parent maps go.
type Target interface {
	// Read gives the issue's map, an empty one where it has none.
	Read(ctx context.Context, cloudIssueID int64) (ParentMap, error)

	// Write makes the issue's map what change makes of the present one, in one
	// step, and gives the map that is there then. Its errors are *TargetError,
	// but for the end of ctx.
	Write(ctx context.Context, cloudIssueID int64, change func(ParentMap) ParentMap) (ParentMap, error)
}

// TargetFailure says what kind of failure an error of a Target is.
type TargetFailure uint8

// The kinds.
const (
	TargetFails     TargetFailure = iota // timeouts, 5xx: will pass
	TargetLimits                         // asked too often
	TargetMissing                        // no such issue
	TargetForbids                        // this issue may not be written
	TargetRefusesUs                      // the credentials are not accepted
)

// TargetError is why a target did not do something.
type TargetError struct {
	Kind     TargetFailure
	Message  string        // a sentence without secrets
	Wait     time.Duration // how long it asked to be left alone
	Declared bool          // it did
	Cause    error
}

func (e *TargetError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.Cause)
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *TargetError) Unwrap() error { return e.Cause }
