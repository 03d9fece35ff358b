package threads

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// EmbeddedTarget is the name of the target that is the server's own database.
const EmbeddedTarget = "embedded"

// Target is where parent maps go.
type Target interface {
	// Read returns the issue's map, an empty one where it has none.
	Read(ctx context.Context, cloudIssueID int64) (ParentMap, error)

	// Write makes the issue's map what change makes of the present one, in one
	// step, and returns the map that is there then. Its errors are *TargetError,
	// but for the end of ctx and the error of change, after which nothing is
	// written.
	Write(ctx context.Context, cloudIssueID int64, change Change) (ParentMap, error)

	// Probe asks whether something could be done with the issue's map, which
	// stays as it is: nil where it could. Its errors are those of Write.
	Probe(ctx context.Context, cloudIssueID int64, what Probe) error
}

// Change makes of an issue's map what it should be.
type Change func(now ParentMap) (ParentMap, error)

// Probe is what a target is asked about an issue.
type Probe uint8

// The probes.
const (
	ProbeRead  Probe = iota // the map can be read
	ProbeEdit               // and the target does not say that it may not be written
	ProbeWrite              // it can be written: something is
)

// TargetFailure says what kind of failure an error of a Target is.
type TargetFailure uint8

// The kinds.
const (
	TargetFails     TargetFailure = iota // timeouts, 5xx: will pass
	TargetLimits                         // asked too often
	TargetMissing                        // no such issue
	TargetForbids                        // this issue may not be written
	TargetRefusesUs                      // the credentials are not accepted
	TargetChanged                        // others have made of the issue's map what is no map; it is left as it is
)

// TargetError is why a target did not do something.
type TargetError struct {
	Kind     TargetFailure
	Message  string        // a sentence without secrets
	Wait     time.Duration // how long it asked to be left alone
	Declared bool          // it did
	Said     string        // the target's own words; "" where it said none
	Status   int           // the HTTP status of its answer; 0 where there was none
	Cause    error
}

func (e *TargetError) Error() string {
	switch {
	case e.Said != "" && strings.HasSuffix(e.Message, "."):
		return e.Message + " It said: " + e.Said
	case e.Said != "":
		return e.Message + ": " + e.Said
	}
	if e.Cause != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.Cause)
	}
	return e.Message
}

// Sentence is Error with a full stop at its end.
func (e *TargetError) Sentence() string {
	text := e.Error()
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// Unwrap returns the cause.
func (e *TargetError) Unwrap() error { return e.Cause }
