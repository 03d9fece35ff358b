package threads

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Relation says, in cloud ids, which comment another one answers.
type Relation struct {
	CommentID, ParentID int64
}

// ParentMap is the relations of one issue, by comment id, each comment once.
type ParentMap []Relation

// NewParentMap orders relations; of the same comment twice, the last counts.
func NewParentMap(relations []Relation) ParentMap {
	m := slices.Clone(relations)
	slices.SortStableFunc(m, func(a, b Relation) int { return cmp.Compare(a.CommentID, b.CommentID) })
	n := 0
	for i, r := range m {
		if i+1 < len(m) && m[i+1].CommentID == r.CommentID {
			continue
		}
		m[n] = r
		n++
	}
	return m[:n]
}

// Merge gives the relations of both; where both name a comment, those of news
// count.
func (m ParentMap) Merge(news ParentMap) ParentMap {
	if len(m) == 0 {
		return news
	}
	out := make(ParentMap, 0, len(m)+len(news))
	for len(m) > 0 && len(news) > 0 {
		switch c := cmp.Compare(m[0].CommentID, news[0].CommentID); {
		case c < 0:
			out, m = append(out, m[0]), m[1:]
		case c > 0:
			out, news = append(out, news[0]), news[1:]
		default:
			m = m[1:]
		}
	}
	return append(append(out, m...), news...)
}

// AppendJSON writes the map as it is stored: {"11782":"11781"}.
func (m ParentMap) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, r := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendInt(b, r.CommentID, 10)
		b = append(b, `":"`...)
		b = strconv.AppendInt(b, r.ParentID, 10)
		b = append(b, '"')
	}
	return append(b, '}')
}

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
