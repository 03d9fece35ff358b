package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Tracking says what a webhook of a pull request adds to what was seen of it.
// The cloud edition says that a pull request was updated, and not what changed,
// so that is told by what the webhook before said of it.
type Tracking uint8

const (
	Untracked Tracking = iota // the platform says itself what changed
	Mentioned                 // something else happened to it; where it stands may be new to us
	Opened
	Pushed  // its source branch has other commits
	Updated // something of it changed, perhaps its commits
)

// sameChange is how much later than a push the platform may say that the pull
// request was updated by it. It is not documented that both bear the same time; a
// longer time would silence what people do next, such as asking reviewers.
const sameChange = 10 * time.Second

// SeenPullRequest is where a pull request stood when a webhook spoke of it last;
// the zero value: none has.
type SeenPullRequest struct {
	Source      string // commit
	Target      string // branch
	Title       string
	Description string // a digest
	Draft       bool
	At          time.Time // when it was so, by the webhook
	// Pushed: a webhook said that there were other commits, and the one that says
	// that the pull request was updated by them may yet come.
	Pushed bool
}

// Known reports whether a webhook spoke of it.
func (s *SeenPullRequest) Known() bool { return s.Source != "" || s.Target != "" || s.Title != "" }

// standing is where the event's pull request stands.
func (e *Event) standing() SeenPullRequest {
	p := e.PullRequest
	sum := sha256.Sum256([]byte(p.Description))
	return SeenPullRequest{Source: p.SourceCommit, Target: p.Target, Title: p.Title, Description: hex.EncodeToString(sum[:16]), Draft: p.Draft, At: e.At}
}

// settle decides by what was seen of the event's pull request what happened to
// it, and what is seen of it now. It is no news where another webhook has told
// of the same: the platform sends two for one push.
func (e *Event) settle(seen SeenPullRequest) (now SeenPullRequest, news bool) {
	stands := e.standing()
	if stands.At.IsZero() {
		stands.At = seen.At
	}
	switch older := stands.At.Before(seen.At); {
	case e.Tracking == Pushed:
		e.Types, e.Changes = []EventType{PullRequestRescoped}, nil
		return e.settlePush(seen, stands, older)
	case e.Tracking == Updated && older, e.Tracking == Updated && !seen.Known():
		// What was seen does not tell: rules for either take it.
		e.Types, e.Changes = []EventType{PullRequestFieldEdited, PullRequestRescoped}, nil
	case e.Tracking == Updated:
		return e.settleUpdate(seen, stands)
	case e.Tracking == Mentioned && seen.Known():
		// It may come before the update that went ahead of it, and must not take
		// that one's news.
		return seen, true
	}
	if stands.At.Before(seen.At) {
		return seen, true
	}
	return stands, true
}

func (e *Event) settlePush(seen, stands SeenPullRequest, older bool) (now SeenPullRequest, news bool) {
	switch {
	case !seen.Known():
		stands.Pushed = true
		return stands, true
	case sameCommit(seen.Source, stands.Source):
		return seen, false
	case older:
		return seen, true
	}
	e.Changes = commitChange(seen.Source, stands.Source)
	seen.Source, seen.At, seen.Pushed = stands.Source, stands.At, true // the rest is for the update to tell
	return seen, true
}

func (e *Event) settleUpdate(seen, stands SeenPullRequest) (now SeenPullRequest, news bool) {
	e.Types, e.Changes = nil, nil
	if !sameCommit(seen.Source, stands.Source) {
		e.Types, e.Changes = append(e.Types, PullRequestRescoped), commitChange(seen.Source, stands.Source)
	}
	if seen.Target != stands.Target && seen.Target != "" && stands.Target != "" {
		e.Types, e.Changes = append(e.Types, PullRequestTargetChanged), append(e.Changes, Change{"target", seen.Target, stands.Target})
	}
	if fields := e.fieldChanges(&seen, &stands); len(fields) > 0 {
		e.Types, e.Changes = append(e.Types, PullRequestFieldEdited), append(e.Changes, fields...)
	}
	if len(e.Types) == 0 {
		e.Types = []EventType{PullRequestFieldEdited} // one that is not told, such as the reviewers
		return stands, !seen.Pushed || !seen.At.IsZero() && stands.At.Sub(seen.At) > sameChange
	}
	return stands, true
}

func (e *Event) fieldChanges(seen, stands *SeenPullRequest) []Change {
	var all []Change
	if seen.Title != stands.Title {
		all = append(all, Change{"title", seen.Title, stands.Title})
	}
	if seen.Description != stands.Description {
		all = append(all, Change{Field: "description", New: e.PullRequest.Description})
	}
	if yesNo := map[bool]string{true: "yes", false: "no"}; seen.Draft != stands.Draft {
		all = append(all, Change{"draft", yesNo[seen.Draft], yesNo[stands.Draft]})
	}
	return all
}

func commitChange(before, after string) []Change { return []Change{{"commit", before, after}} }

// sameCommit compares hashes, either of which may be abbreviated, or not said:
// then it is no other one.
func sameCommit(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// toldAlready is kept with a webhook that is no news.
const toldAlready = "Another webhook reported the same push."

// Tracked returns the event of the pull request whose state the webhook tells, nil
// where there is none, or where the webhook may not speak of it.
func (r *Receipt) Tracked() *Event {
	if len(r.Events) != 1 || r.Events[0].Tracking == Untracked || r.Refusal != nil || r.withheld {
		return nil
	}
	return &r.Events[0]
}

// Settle decides what happened to the pull request that the webhook is about, by
// what was seen of it, and returns what is seen now. Where that changes the event
// it must be matched again. Calling it once more decides anew.
func (r *Receipt) Settle(seen SeenPullRequest) (now SeenPullRequest, rematch bool) {
	e := &r.Events[0]
	now, news := e.settle(seen)
	r.Outcome, r.Reason = Understood, ""
	if !news {
		r.Outcome, r.Reason = Silent, toldAlready
	}
	return now, e.Tracking == Pushed || e.Tracking == Updated
}
