// Package bitbucketcloud turns webhook bodies of the cloud edition, Bitbucket
// Cloud, into events.
//
// The bodies are those of the vendor's "Event payloads" page. They do not say
// what happened: that is in the header X-Event-Key alone, which is not signed.
// So a body is held to what its key is about. In an event the workspace stands
// where the self-hosted edition has the project.
package bitbucketcloud

import (
	"strings"
	"sync"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// Decode is a notify.Decoder. Connection stays unset.
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
	if !h.hasKey {
		h.key = header
	}
	key = h.key
	if err := notify.CheckKey(header, key); err != nil {
		return "", nil, err
	}
	if key == "" {
		return "", nil, notify.NotUnderstood("the header X-Event-Key is missing, which names the event, such as repo:push")
	}
	kind, known := kinds[key]
	switch {
	case !known:
		return key, nil, notify.ErrUnknownKey
	case !whole:
		return key, nil, notify.NotUnderstood("it is not an object")
	case r.Overlong():
		return key, nil, notify.NotUnderstood("a list in it has more than %d elements", payload.MaxElements)
	}
	if err := h.check(&kind); err != nil {
		return key, nil, err
	}
	h.site = site(strings.TrimRight(baseURL, "/"))
	events, err = kind.decode(h)
	h.addProject(events)
	return key, events, err
}

// hooks are used again: one takes as much as the event that is made of it.
var hooks = sync.Pool{New: func() any { return new(hook) }}

// kind is what the bodies of an event key are like, and what makes events of
// them.
type kind struct {
	decode  func(*hook) ([]notify.Event, error)
	has     members  // what each has
	may     members  // what those may have besides that have nothing of their own
	states  []string // of the pull request, of those that are known; nil: any
	deletes bool     // the comment
}

// kinds are the event keys of the platform, all 29 to which a webhook can
// subscribe.
var kinds = map[string]kind{
	"repo:push":                   {decode: pushed, has: hasPush},
	"repo:fork":                   {decode: one(forked, notify.RepositoryForked), has: hasFork},
	"repo:updated":                {decode: one(repositoryUpdated, notify.RepositoryFieldEdited), has: hasChanges},
	"repo:transfer":               {decode: one(transferred, notify.RepositoryTransferred), may: hasPreviousOwner},
	"repo:created":                {decode: one(repositoryEvent, notify.RepositoryCreated)},
	"repo:imported":               {decode: one(repositoryEvent, notify.RepositoryImported)},
	"repo:deleted":                {decode: one(repositoryEvent, notify.RepositoryDeleted)},
	"repo:commit_comment_created": {decode: one(commitComment, notify.CommitCommentAdded), has: hasComment},
	"repo:commit_status_created":  {decode: statusSet, has: hasStatus},
	"repo:commit_status_updated":  {decode: statusSet, has: hasStatus},
	"project:updated":             {decode: one(projectUpdated, notify.ProjectFieldEdited), has: hasProject},
	"pipeline:span_created":       {decode: silent, may: ^members(0)}, // traces of a run, step by step; its commit status tells of it

	"issue:created":         {decode: one(issueEvent, notify.IssueCreated), has: hasIssue},
	"issue:updated":         {decode: one(issueUpdated, notify.IssueUpdated), has: hasIssue | hasChanges},
	"issue:comment_created": {decode: one(issueComment, notify.IssueCommented), has: hasIssue | hasComment},

	"pullrequest:created": {decode: one(pullRequestCreated, notify.PullRequestOpened), has: hasPullRequest},
	"pullrequest:updated": {decode: one(pullRequestUpdated, notify.PullRequestFieldEdited), has: hasPullRequest},
	"pullrequest:push":    {decode: one(pullRequestPushed, notify.PullRequestRescoped), has: hasPullRequest},
	"pullrequest:fulfilled": {
		decode: one(pullRequestClosed, notify.PullRequestMerged), has: hasPullRequest, states: []string{"MERGED"},
	},
	"pullrequest:rejected": {
		decode: one(pullRequestClosed, notify.PullRequestDeclined), has: hasPullRequest, states: []string{"DECLINED", "SUPERSEDED"},
	},
	"pullrequest:approved":   {decode: one(reviewGiven, notify.PullRequestApproved), has: hasPullRequest | hasApproval},
	"pullrequest:unapproved": {decode: one(reviewTaken, notify.PullRequestUnapproved), has: hasPullRequest | hasApproval},
	"pullrequest:changes_request_created": {
		decode: one(reviewGiven, notify.PullRequestChangesRequested), has: hasPullRequest | hasChangesRequest,
	},
	"pullrequest:changes_request_removed": {
		decode: one(reviewTaken, notify.PullRequestChangesRequestRemoved), has: hasPullRequest | hasChangesRequest,
	},
	"pullrequest:comment_created": {decode: one(pullRequestComment, notify.PullRequestCommentAdded), has: hasPullRequest | hasComment},
	"pullrequest:comment_updated": {decode: one(pullRequestComment, notify.PullRequestCommentEdited), has: hasPullRequest | hasComment},
	"pullrequest:comment_deleted": {
		decode: one(pullRequestComment, notify.PullRequestCommentDeleted), has: hasPullRequest | hasComment, deletes: true,
	},
	"pullrequest:comment_resolved": {decode: one(pullRequestComment, notify.PullRequestCommentResolved), has: hasPullRequest | hasComment},
	"pullrequest:comment_reopened": {decode: one(pullRequestComment, notify.PullRequestCommentReopened), has: hasPullRequest | hasComment},
}

// one is for keys that always give one event.
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
