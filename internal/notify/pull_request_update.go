package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// PullRequestUpdate says what a webhook tells about the state of a pull request. The cloud
// edition says that a pull request was updated, but not what changed: that follows from
// what the webhook before said.
type PullRequestUpdate uint8

const (
	NoUpdate PullRequestUpdate = iota // the platform says itself what changed
	Touched                           // something else happened to it; where it stands may be new to us
	Opened
	Pushed  // its source branch has other commits
	Updated // something of it changed, perhaps its commits
)

// sameChange is how much later than a push the platform may say that the pull
// request was updated by it. It is not documented that both bear the same time; a
// longer time would silence what people do next, such as asking reviewers.
const sameChange = 10 * time.Second

// PullRequestState is the state of a pull request by the last webhook about it; the zero
// value if there was none.
type PullRequestState struct {
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

// Known reports whether there was a webhook about the pull request.
func (s *PullRequestState) Known() bool { return s.Source != "" || s.Target != "" || s.Title != "" }

// pullRequestState returns the state of the event's pull request.
func (e *Event) pullRequestState() PullRequestState {
	p := e.PullRequest
	sum := sha256.Sum256([]byte(p.Description))
	return PullRequestState{
		Source: p.SourceCommit, Target: p.Target, Title: p.Title, Description: hex.EncodeToString(sum[:16]), Draft: p.Draft, At: e.At,
	}
}

// resolve decides by what was seen of the event's pull request what happened to
// it, and what is seen of it now. It is no news where another webhook has told
// of the same: the platform sends two for one push.
func (e *Event) resolve(seen PullRequestState) (now PullRequestState, news bool) {
	state := e.pullRequestState()
	if state.At.IsZero() {
		state.At = seen.At
	}
	switch older := state.At.Before(seen.At); {
	case e.Update == Pushed:
		e.Types, e.Changes = []EventType{PullRequestRescoped}, nil
		return e.resolvePush(seen, state, older)
	case e.Update == Updated && older, e.Update == Updated && !seen.Known():
		// What was seen does not tell: rules for either take it.
		e.Types, e.Changes = []EventType{PullRequestFieldEdited, PullRequestRescoped}, nil
	case e.Update == Updated:
		return e.resolveChange(seen, state)
	case e.Update == Touched && seen.Known():
		// It may come before the update that went ahead of it, and must not take
		// that one's news.
		return seen, true
	}
	if state.At.Before(seen.At) {
		return seen, true
	}
	return state, true
}

func (e *Event) resolvePush(seen, state PullRequestState, older bool) (now PullRequestState, news bool) {
	switch {
	case !seen.Known():
		state.Pushed = true
		return state, true
	case sameCommit(seen.Source, state.Source):
		return seen, false
	case older:
		return seen, true
	}
	e.Changes = commitChange(seen.Source, state.Source)
	seen.Source, seen.At, seen.Pushed = state.Source, state.At, true // the rest is for the update to tell
	return seen, true
}

func (e *Event) resolveChange(seen, state PullRequestState) (now PullRequestState, news bool) {
	e.Types, e.Changes = nil, nil
	if !sameCommit(seen.Source, state.Source) {
		e.Types, e.Changes = append(e.Types, PullRequestRescoped), commitChange(seen.Source, state.Source)
	}
	if seen.Target != state.Target && seen.Target != "" && state.Target != "" {
		e.Types, e.Changes = append(e.Types, PullRequestTargetChanged), append(e.Changes, Change{"target", seen.Target, state.Target})
	}
	if fields := e.fieldChanges(&seen, &state); len(fields) > 0 {
		e.Types, e.Changes = append(e.Types, PullRequestFieldEdited), append(e.Changes, fields...)
	}
	if len(e.Types) == 0 {
		e.Types = []EventType{PullRequestFieldEdited} // one that is not told, such as the reviewers
		return state, !seen.Pushed || !seen.At.IsZero() && state.At.Sub(seen.At) > sameChange
	}
	return state, true
}

func (e *Event) fieldChanges(seen, state *PullRequestState) []Change {
	var all []Change
	if seen.Title != state.Title {
		all = append(all, Change{"title", seen.Title, state.Title})
	}
	if seen.Description != state.Description {
		all = append(all, Change{Field: "description", New: e.PullRequest.Description})
	}
	if seen.Draft != state.Draft {
		all = append(all, Change{"draft", YesNo(seen.Draft), YesNo(state.Draft)})
	}
	return all
}

func commitChange(before, after string) []Change { return []Change{{"commit", before, after}} }

// sameCommit reports whether two hashes may be of the same commit: either may be
// abbreviated, or empty if it was not said.
func sameCommit(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// toldAlready is the reason why a webhook has no event.
const toldAlready = "Another webhook reported the same push."

// PullRequestEvent returns the event of the pull request whose state the webhook tells, or
// nil if there is none, or the webhook was refused.
func (r *Receipt) PullRequestEvent() *Event {
	if len(r.Events) != 1 || r.Events[0].Update == NoUpdate || r.Refusal != nil || r.withheld {
		return nil
	}
	return &r.Events[0]
}

// ResolvePullRequest decides what happened to the pull request that the webhook is about by
// its state as seen before, and returns its state now. If rematch is true, the event
// changed and must be matched again. It may be called again with another state.
func (r *Receipt) ResolvePullRequest(seen PullRequestState) (now PullRequestState, rematch bool) {
	e := &r.Events[0]
	now, news := e.resolve(seen)
	r.Outcome, r.Reason = Understood, ""
	if !news {
		r.Outcome, r.Reason = Silent, toldAlready
	}
	return now, e.Update == Pushed || e.Update == Updated
}
