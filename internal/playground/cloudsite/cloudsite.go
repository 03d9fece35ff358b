// Package cloudsite plays a cloud site: its issue property API as the vendor
// documents it, with the limits and, on demand, the faults of a real one, and a
// page that shows the threads which others have written there.
//
// Sources: https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-properties/,
// https://developer.atlassian.com/cloud/jira/platform/rate-limiting/.
package cloudsite

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"outrigger/internal/playground/respond"
)

// Options say what the site is like. The zero value has every issue, needs no
// sign-in and has no time limit.
type Options struct {
	User    string // the e-mail address of the account that may write; "": everybody
	Token   string
	Limits  Limits
	Latency time.Duration // before every answer

	Missing  func(issue int64) bool // no such issue: 404; nil: all there
	ReadOnly func(issue int64) bool // may be seen and not be edited: 403

	// NoPermissions is a site, or a gateway before it, that does not have the
	// call for the account's permissions.
	NoPermissions bool

	// Key is what an issue is called; nil: CLOUD and its id. NoBulkFetch is a site
	// that does not have the call for it.
	Key         func(issue int64) string
	NoBulkFetch bool

	// React answers in the site's place; nil, or a nil reaction: as the mode
	// has it.
	React func(Request) *Reaction

	Clock func() time.Time
}

// Request is a request to the site.
type Request struct {
	Number int64 // counted from 1
	Method string
	Issue  int64
	Key    string // of the property; "" for the list of them, Permissions for the account's, BulkFetch for the issues of Value
	Value  string // of a PUT
}

// Reaction is how a request is answered out of the ordinary.
type Reaction struct {
	Apply  bool // it is done nevertheless
	Delay  time.Duration
	Then   Then
	Status int // of the answer; 0: what it would have been if it is done, else 200
	Header map[string]string
	Body   string
}

// Then is what happens instead of, or with, an answer.
type Then int

const (
	Answer     Then = iota
	HangUp          // the connection is closed
	BreakOff        // the connection is closed in the middle of the answer
	FallSilent      // nothing is said until the client gives up
)

// Site is a cloud site. It is safe for concurrent use.
type Site struct {
	o        Options
	watchers respond.Watchers

	mu      sync.Mutex
	mode    FaultMode
	left    int // requests that the mode is for; 0: all
	issues  map[int64]*issue
	limiter *limiter
	counts  Counts
	now     int // requests under way
	changes int64
}

type issue struct {
	properties map[string]string
	writes     int64
	writing    int // under way
	changed    int64
}

// Counts is what the site has seen.
type Counts struct {
	Requests     int64
	Writes       int64 // PUT and DELETE
	Limited      int64 // answered 429
	AtOnce       int   // requests, at most
	WritesAtOnce int   // to one issue, at most
}

// New makes a site that works.
func New(o Options) *Site {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Site{o: o, mode: Works, issues: map[int64]*issue{}, limiter: newLimiter(o.Limits)}
}

// issue returns an issue as it is kept; mu is held.
func (s *Site) issue(id int64) *issue {
	i := s.issues[id]
	if i == nil {
		i = &issue{properties: map[string]string{}}
		s.issues[id] = i
	}
	return i
}

// Property returns the value of an issue's property.
func (s *Site) Property(id int64, key string) (value string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.issues[id]; i != nil {
		value, ok = i.properties[key]
	}
	return value, ok
}

// Keys returns the keys of an issue's properties in order.
func (s *Site) Keys(id int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.issues[id]; i != nil {
		return slices.Sorted(maps.Keys(i.properties))
	}
	return nil
}

// SetProperty puts a value there whatever it is, which the API does not allow.
func (s *Site) SetProperty(id int64, key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issue(id).properties[key] = value
	s.changed(s.issue(id))
}

// Issues returns the ids of the issues that have properties, the one that was
// written last first.
func (s *Site) Issues() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []int64
	for id, i := range s.issues {
		if len(i.properties) > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(s.issues[b].changed, s.issues[a].changed) })
	return ids
}

// Writes is how often an issue was written to.
func (s *Site) Writes(id int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.issues[id]; i != nil {
		return i.writes
	}
	return 0
}

// Counts is what the site has seen so far.
func (s *Site) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// FaultMode is how the site answers now, and for how many more requests; 0 for all.
func (s *Site) FaultMode() (m FaultMode, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode, s.left
}

// SetFaultMode changes how it answers from now on, for a number of requests or, with
// 0, until it is changed again.
func (s *Site) SetFaultMode(m FaultMode, requests int) {
	if _, ok := faultModes[m]; !ok || requests < 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode, s.left = m, requests
	s.watchers.Changed()
}

// changed notes that an issue was written to; mu is held.
func (s *Site) changed(i *issue) {
	s.changes++
	i.changed = s.changes
	s.watchers.Changed()
}
