// Package jiracloud keeps parent maps in the issue properties of a cloud site.
//
// A map is the property outrigger.threads of its issue:
//
//	{"v":1,"generation":3,"parents":{"11782":"11781"}}
//
// The site takes 32,768 characters a property. A map that needs more is in parts,
// outrigger.threads.1 and so on, each with some of the relations,
//
//	{"v":1,"generation":4,"part":1,"parents":{"11782":"11781"}}
//
// and outrigger.threads, the head, says which they are, how many relations they
// have together, and the SHA-256 of the whole map as its JSON is written
// here, ordered and without spaces:
//
//	{"v":1,"generation":4,"first":1,"parts":5,"relations":5000,"sha256":"…"}
//
// The parts of a generation have other numbers than those of the one before,
// the head is written after them, and what is stale is deleted after the head.
// So a reader of the head, and of the parts of the head's generation alone, has
// the map as it was before a write or as it is after it, wherever that write
// broke off; the next one deletes what was left over.
//
// Sources: https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-properties/,
// https://developer.atlassian.com/cloud/jira/platform/rate-limiting/.
package jiracloud

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/egress"
	"outrigger/internal/secret"
	"outrigger/internal/threads"
)

// Options say which site it is, and who writes there.
type Options struct {
	URL   string // the site's base URL; a slash at its end does not matter
	User  string // the account's e-mail address
	Token secret.Value

	Client   egress.Doer
	Requests int // at once; 0: 4
	// Timeout is how long one request may take; 0: a minute.
	Timeout time.Duration

	// PerSecond is how many requests a second go to one endpoint; 0 is four
	// fifths of what the vendor lets through, 80 reads and 40 writes.
	PerSecond float64

	Clock   func() time.Time      // nil: time.Now
	Log     *slog.Logger          // nil: properties that are not ours are not reported
	Metrics prometheus.Registerer // nil: nothing is counted
}

// Target is a cloud site as threads.Target has it. It is safe for concurrent use;
// the writes to one issue are one after another.
type Target struct {
	site *site
	pace *pace
	log  *slog.Logger
}

// New makes a Target; nothing is asked yet.
func New(o Options) (*Target, error) {
	o.Requests = cmp.Or(o.Requests, 4)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	pace := newPace(o.Requests, o.PerSecond)
	site, err := newSite(o, pace)
	if err != nil {
		return nil, err
	}
	return &Target{site: site, pace: pace, log: o.Log}, nil
}

// Read returns an issue's map. A property that is not one of this package is an
// error of the kind threads.TargetChanged.
func (t *Target) Read(ctx context.Context, issue int64) (threads.ParentMap, error) {
	h, m, err := t.read(ctx, issue)
	if err != nil || h != nil {
		return m, err
	}
	// That there is no property is the same answer as that there is no issue;
	// the list of properties tells them apart.
	if _, err := t.site.keys(ctx, issue); err != nil {
		return nil, err
	}
	return threads.ParentMap{}, nil
}

// Write changes an issue's map. Nothing is written where nothing changes, or
// where the property is not one of this package.
func (t *Target) Write(ctx context.Context, issue int64, change threads.Change) (threads.ParentMap, error) {
	turn, err := t.pace.turn(ctx, issue)
	if err != nil {
		return nil, err
	}
	defer turn.end()
	keys, err := t.site.keys(ctx, issue)
	if err != nil {
		return nil, err
	}
	var old *head
	m := threads.ParentMap{}
	if keys.head {
		if old, m, err = t.read(ctx, issue); err != nil {
			return nil, err
		}
	}
	after, err := change(m)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(m, after) {
		m = after
		if old, err = t.replace(ctx, turn, issue, old, m); err != nil {
			return nil, err
		}
	}
	for _, n := range keys.parts {
		if !old.has(n) {
			if err := t.site.remove(ctx, turn, issue, partKey(n)); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// replace writes a map: its parts, then its head, which it gives. nil is for
// none.
func (t *Target) replace(ctx context.Context, turn *turn, issue int64, old *head, m threads.ParentMap) (*head, error) {
	if len(m) == 0 {
		return nil, t.site.remove(ctx, turn, issue, headKey)
	}
	h, parts, err := compose(old, m)
	if err != nil {
		return nil, t.unwritten(issue, err)
	}
	for _, p := range parts {
		if err := t.site.put(ctx, turn, issue, partKey(p.Part), p.encode()); err != nil {
			return nil, err
		}
	}
	return h, t.site.put(ctx, turn, issue, headKey, h.encode())
}

// tries is how often a map may be rewritten while it is read.
const tries = 5

// read returns an issue's map with its head; nil where it has none.
func (t *Target) read(ctx context.Context, issue int64) (*head, threads.ParentMap, error) {
	var before *head
	for range tries {
		text, ok, err := t.site.get(ctx, issue, headKey)
		if !ok || err != nil {
			return nil, threads.ParentMap{}, t.explained(issue, headKey, err)
		}
		h, err := decodeHead(text)
		if err != nil {
			return nil, nil, t.unreadable(issue, headKey, err)
		}
		m, torn, err := t.gather(ctx, issue, h)
		if err != nil {
			return nil, nil, err
		}
		if torn == nil {
			return h, m, nil
		}
		if h.same(before) {
			return nil, nil, t.unreadable(issue, headKey, torn)
		}
		before = h // it may have been written anew after the head was read
	}
	return nil, nil, &threads.TargetError{Message: fmt.Sprintf("The map of issue %d is written again and again while it is read", issue)}
}

// gather puts a map together. torn says why its parts are not those of the head.
func (t *Target) gather(ctx context.Context, issue int64, h *head) (m threads.ParentMap, torn, err error) {
	if h.Parts == 0 {
		return h.Parents, nil, nil
	}
	for n := h.First; n < h.First+h.Parts; n++ {
		text, ok, err := t.site.get(ctx, issue, partKey(n))
		if err != nil {
			return nil, nil, t.explained(issue, partKey(n), err)
		}
		if !ok {
			return nil, fmt.Errorf("its part %s is missing", partKey(n)), nil
		}
		p, err := decodePart(text)
		if err != nil {
			return nil, nil, t.unreadable(issue, partKey(n), err)
		}
		if p.Generation != h.Generation || p.Part != n {
			return nil, fmt.Errorf("its part %s belongs to another map", partKey(n)), nil
		}
		m = append(m, p.Parents...)
	}
	m = threads.NewParentMap(m)
	if len(m) != h.Relations || sum(m) != h.SHA256 {
		return nil, errors.New("its parts do not make the map that it is about"), nil
	}
	return m, nil, nil
}

func sum(m threads.ParentMap) string {
	digest := sha256.Sum256(m.AppendJSON(nil))
	return hex.EncodeToString(digest[:])
}

// explained makes an answer that is no property an error about it.
func (t *Target) explained(issue int64, key string, err error) error {
	if errors.Is(err, errNoProperty) {
		return t.unreadable(issue, key, err)
	}
	return err
}

// unreadable is the error about a property that is not ours.
func (t *Target) unreadable(issue int64, key string, why error) error {
	t.log.Warn("a property of the cloud site is left as it is", "issue", issue, "property", key, "error", why)
	return &threads.TargetError{Kind: threads.TargetChanged, Cause: why,
		Message: fmt.Sprintf("The property %s of issue %d is not as Outrigger writes it, and is left as it is; "+
			"delete it on the site to have the map written", key, issue)}
}

// unwritten is the error about a map that has no room.
func (t *Target) unwritten(issue int64, why error) error {
	t.log.Warn("a map has no room on the cloud site", "issue", issue, "error", why)
	return &threads.TargetError{
		Kind: threads.TargetForbids, Cause: why, Message: fmt.Sprintf("The map of issue %d has no room in the issue's properties", issue),
	}
}
