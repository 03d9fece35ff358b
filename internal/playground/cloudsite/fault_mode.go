package cloudsite

import (
	"time"
)

// FaultMode is how the site answers.
type FaultMode string

const (
	Works    FaultMode = "works"
	TooOften FaultMode = "too-often" // 429 with Retry-After
	Spent    FaultMode = "spent"     // 429 with X-RateLimit-Reset alone
	Fails    FaultMode = "fails"     // 500
	Away     FaultMode = "away"      // 503 with a page
	Silent   FaultMode = "silent"    // no answer
	Drops    FaultMode = "drops"     // hangs up, nothing is done
	Loses    FaultMode = "loses"     // does what was asked and hangs up
	Locked   FaultMode = "locked"    // 401
	Expired  FaultMode = "expired"   // takes everybody for a stranger: 404 and a header that says so
	Forbids  FaultMode = "forbids"   // 403
	Gone     FaultMode = "gone"      // 404, as if the account may see nothing
	ReadOnly FaultMode = "read-only" // 403 to writes: the permission to edit is lost
	Rests    FaultMode = "rests"     // 429 that asks for an hour
	Slow     FaultMode = "slow"      // answers after 20 seconds
)

// FaultModes lists them for the page.
func FaultModes() []FaultMode {
	return []FaultMode{Works, TooOften, Spent, Fails, Away, Silent, Drops, Loses, Locked, Expired, Forbids, Gone, ReadOnly, Rests, Slow}
}

// Words say what the site does, for the page.
func (m FaultMode) Words() string { return faultModes[m].words }

// rests are what the faultModes that limit ask for: short, since a viewer waits.
const (
	retryAfter = 5 * time.Second
	resetAfter = time.Minute
	longRest   = time.Hour
	// slowness is what a site under load takes, and longer than most programs
	// wait.
	slowness = 20 * time.Second
)

// manner is what a mode answers.
type manner struct {
	words  string
	writes bool                         // only PUT and DELETE are answered so
	react  func(now time.Time) Reaction // nil: nothing out of the ordinary
}

var faultModes = map[FaultMode]manner{
	Works: {words: "works"},
	TooOften: {words: "is asked too often: 429", react: func(now time.Time) Reaction {
		return reactionOf(tooOften(burstReason, 1, now, retryAfter))
	}},
	Spent: {words: "has no points left: 429 until a time", react: func(now time.Time) Reaction {
		r := reactionOf(tooOften(quotaReason, 1, now, resetAfter))
		delete(r.Header, "Retry-After")
		return r
	}},
	Fails:    {words: "fails: 500", react: answering(500, jsonType, errorBody("Internal server error"))},
	Away:     {words: "is away: 503", react: answering(503, htmlType, "<!doctype html><title>Site temporarily unavailable</title>")},
	Silent:   {words: "does not answer", react: func(time.Time) Reaction { return Reaction{Then: FallSilent} }},
	Drops:    {words: "hangs up, and has done nothing", react: func(time.Time) Reaction { return Reaction{Then: HangUp} }},
	Loses:    {words: "does it, and hangs up", react: func(time.Time) Reaction { return Reaction{Apply: true, Then: HangUp} }},
	Locked:   {words: "knows nobody: 401", react: answering(401, jsonType, errorBody(unauthenticated))},
	Forbids:  {words: "lets nothing be edited: 403", react: answering(403, jsonType, errorBody(notEditable))},
	Gone:     {words: "shows the account nothing: 404", react: answering(404, jsonType, errorBody(noIssue))},
	ReadOnly: {words: "can be read and not be written: 403", writes: true, react: answering(403, jsonType, errorBody(notEditable))},
	Rests: {words: "asks to be left alone for an hour: 429", react: func(now time.Time) Reaction {
		return reactionOf(tooOften(quotaReason, 1, now, longRest))
	}},
	Slow: {words: "does it, and answers after 20 seconds", react: func(time.Time) Reaction { return Reaction{Apply: true, Delay: slowness} }},
	Expired: {words: "takes everybody for a stranger: 404", react: func(time.Time) Reaction {
		r := answering(404, jsonType, errorBody(noIssue))(time.Time{})
		r.Header[loginReason] = "AUTHENTICATED_FAILED"
		return r
	}},
}

func answering(status int, contentType, body string) func(time.Time) Reaction {
	return func(time.Time) Reaction {
		return Reaction{Status: status, Header: map[string]string{"Content-Type": contentType}, Body: body}
	}
}

func reactionOf(a answer) Reaction { return Reaction{Status: a.status, Header: a.header, Body: a.body} }

// react says how a request is answered out of the ordinary: by the script,
// else by the mode; nil for the ordinary.
func (s *Site) react(r Request) *Reaction {
	if s.o.React != nil {
		if reaction := s.o.React(r); reaction != nil {
			return reaction
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := faultModes[s.mode]
	if m.react == nil || m.writes && !r.writes() {
		return nil
	}
	if s.left > 0 {
		if s.left--; s.left == 0 {
			s.mode = Works
		}
		s.watchers.Changed()
	}
	reaction := m.react(s.o.Clock())
	return &reaction
}
