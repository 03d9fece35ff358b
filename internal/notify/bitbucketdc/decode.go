// Package bitbucketdc turns webhook bodies of the self-hosted platform,
// Bitbucket Data Center 5.4 and later, into events.
//
// The bodies are those of the vendor's "Event payload" pages. What differs
// between its versions is all taken: times as milliseconds or, from version
// 10, as ISO 8601; links, commits and drafts that older versions do not send.
package bitbucketdc

import (
	"strings"
	"sync"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// Decode is a notify.Decoder. `diagnostics:ping` says nothing and is an unknown
// key here. Connection stays unset.
func Decode(header string, body []byte, baseURL string) (key string, events []notify.Event, err error) {
	h := hooks.Get().(*hook)
	defer func() {
		*h = hook{} // events share nothing with it but the texts
		hooks.Put(h)
	}()
	r := payload.New(body)
	defer r.Release()
	whole := r.Kind() == '{'
	h.read(r)
	if err := r.End(); err != nil {
		return "", nil, err
	}
	if !h.key.given {
		h.key.is = header
	}
	key = h.key.is
	if err := notify.CheckKey(header, key); err != nil {
		return "", nil, err
	}
	decode, known := eventsOf[key]
	switch {
	case !known:
		return key, nil, notify.ErrUnknownKey
	case !whole:
		return key, nil, notify.NotUnderstood("it is not an object")
	case r.Overlong():
		return key, nil, notify.NotUnderstood("a list in it has more than %d elements", payload.MaxElements)
	}
	h.site = site(strings.TrimRight(baseURL, "/"))
	events, err = decode(h)
	return key, events, err
}

// hooks are used again: one takes as much as the event that is made of it.
var hooks = sync.Pool{New: func() any { return new(hook) }}

// eventsOf makes events of a body, by its key. Where the server's name of a key
// and that of the vendor's pages differ, both are here.
var eventsOf = map[string]func(*hook) ([]notify.Event, error){
	"repo:refs_changed":             refsChanged,
	"pr:opened":                     one(pullRequestEvent, notify.PullRequestOpened),
	"pr:merged":                     one(pullRequestEvent, notify.PullRequestMerged),
	"pr:declined":                   one(pullRequestEvent, notify.PullRequestDeclined),
	"pr:deleted":                    one(pullRequestEvent, notify.PullRequestDeleted),
	"pr:from_ref_updated":           sourceUpdated,
	"pr:to_ref_updated":             silent, // would tell of every open pull request at each push to its target
	"pr:modified":                   pullRequestModified,
	"pr:reviewer:updated":           reviewersUpdated,
	"pr:reviewer:approved":          one(reviewed, notify.PullRequestApproved),
	"pr:reviewer:unapproved":        unapproved,
	"pr:reviewer:needs_work":        one(reviewed, notify.PullRequestChangesRequested),
	"pr:reviewer:changes_requested": one(reviewed, notify.PullRequestChangesRequested),
	"pr:comment:added":              one(pullRequestComment, notify.PullRequestCommentAdded),
	"pr:comment:edited":             one(pullRequestComment, notify.PullRequestCommentEdited),
	"pr:comment:deleted":            one(pullRequestComment, notify.PullRequestCommentDeleted),
	"repo:comment:added":            one(commitComment, notify.CommitCommentAdded),
	"repo:comment:edited":           one(commitComment, notify.CommitCommentEdited),
	"repo:comment:deleted":          one(commitComment, notify.CommitCommentDeleted),
	"repo:forked":                   one(forked, notify.RepositoryForked),
	"repo:modified":                 one(repositoryModified, notify.RepositoryFieldEdited),
	"project:modified":              one(projectModified, notify.ProjectFieldEdited),
	"proj:modified":                 one(projectModified, notify.ProjectFieldEdited),
	"mirror:repo_synchronized":      one(mirrorSynchronized, notify.RepositoryMirrorSynchronized),
	"repo:secret_detected":          secretDetected,
}

// one is for keys that always give one event, of one type.
func one(fill func(*hook, *notify.Event) error, t notify.EventType) func(*hook) ([]notify.Event, error) {
	return func(h *hook) ([]notify.Event, error) {
		events := []notify.Event{h.event(t)}
		if err := fill(h, &events[0]); err != nil {
			return nil, err
		}
		return events, nil
	}
}

func silent(*hook) ([]notify.Event, error) { return nil, nil }
