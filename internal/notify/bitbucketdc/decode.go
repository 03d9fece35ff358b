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
	decode := eventsOf(key)
	switch {
	case decode == nil:
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

// eventsOf is what makes events of a key's bodies; nil for an unknown key.
func eventsOf(key string) func(*hook) ([]notify.Event, error) {
	switch key {
	case "repo:refs_changed":
		return refsChanged
	case "pr:opened":
		return one(pullRequestEvent, notify.PullRequestOpened)
	case "pr:merged":
		return one(pullRequestEvent, notify.PullRequestMerged)
	case "pr:declined":
		return one(pullRequestEvent, notify.PullRequestDeclined)
	case "pr:deleted":
		return one(pullRequestEvent, notify.PullRequestDeleted)
	case "pr:from_ref_updated":
		return sourceUpdated
	case "pr:to_ref_updated": // would tell of every open pull request at each push to its target
		return silent
	case "pr:modified":
		return pullRequestModified
	case "pr:reviewer:updated":
		return reviewersUpdated
	case "pr:reviewer:approved":
		return one(reviewed, notify.PullRequestApproved)
	case "pr:reviewer:unapproved":
		return unapproved
	case "pr:reviewer:needs_work", "pr:reviewer:changes_requested": // the vendor's pages have both names
		return one(reviewed, notify.PullRequestChangesRequested)
	case "pr:comment:added":
		return one(pullRequestComment, notify.PullRequestCommentAdded)
	case "pr:comment:edited":
		return one(pullRequestComment, notify.PullRequestCommentEdited)
	case "pr:comment:deleted":
		return one(pullRequestComment, notify.PullRequestCommentDeleted)
	case "repo:comment:added":
		return one(commitComment, notify.CommitCommentAdded)
	case "repo:comment:edited":
		return one(commitComment, notify.CommitCommentEdited)
	case "repo:comment:deleted":
		return one(commitComment, notify.CommitCommentDeleted)
	case "repo:forked":
		return one(forked, notify.RepositoryForked)
	case "repo:modified":
		return one(repositoryModified, notify.RepositoryFieldEdited)
	case "project:modified", "proj:modified": // the server's name, and that of the vendor's pages
		return one(projectModified, notify.ProjectFieldEdited)
	case "mirror:repo_synchronized":
		return one(mirrorSynchronized, notify.RepositoryMirrorSynchronized)
	case "repo:secret_detected":
		return secretDetected
	}
	return nil
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
