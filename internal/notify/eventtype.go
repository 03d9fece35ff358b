package notify

import "slices"

// EventType is what a rule selects: one kind of event, by the key that the
// configuration API uses. The set and its order are those of
// GET …/configuration/eventTypes.
type EventType uint8

// Edition is an edition of the code-hosting platform.
type Edition string

const (
	SelfHosted Edition = "self-hosted"
	Cloud      Edition = "cloud"
)

const (
	BranchCreated EventType = iota
	BranchUpdated
	BranchDeleted
	TagCreated
	TagUpdated
	TagDeleted
	FileEdited
	PullRequestOpened
	PullRequestRescoped
	PullRequestFieldEdited
	PullRequestTargetChanged
	PullRequestReviewersUpdated
	PullRequestApproved
	PullRequestUnapproved
	PullRequestChangesRequested
	PullRequestChangesRequestRemoved
	PullRequestMerged
	PullRequestDeclined
	PullRequestDeleted
	PullRequestCommentAdded
	PullRequestCommentEdited
	PullRequestCommentDeleted
	PullRequestCommentResolved
	PullRequestCommentReopened
	CommitCommentAdded
	CommitCommentEdited
	CommitCommentDeleted
	BuildStatusSet
	PipelineStarted
	PipelineSucceeded
	PipelineFailed
	PipelineStopped
	RepositoryCreated
	RepositoryForked
	RepositoryFieldEdited
	RepositoryTransferred
	RepositoryImported
	RepositoryDeleted
	RepositoryMirrorSynchronized
	RepositorySecretDetected
	ProjectFieldEdited
	IssueCreated
	IssueUpdated
	IssueCommented
	eventTypeCount // must stay within the 64 that TypeSet holds
)

// Categories of event types, as the rule form groups them.
const (
	categoryRefs         = "Branches and tags"
	categoryPullRequests = "Pull requests"
	categoryCommits      = "Commits"
	categoryBuilds       = "Builds"
	categoryRepositories = "Repositories and projects"
	categoryIssues       = "Issues (cloud)"
)

type eventTypeInfo struct {
	key, name, category string
	selfHosted, cloud   bool
}

var eventTypes = [eventTypeCount]eventTypeInfo{
	BranchCreated: {"BRANCH_CREATED", "Branch created", categoryRefs, true, true},
	BranchUpdated: {"BRANCH_UPDATED", "Branch updated (push)", categoryRefs, true, true},
	BranchDeleted: {"BRANCH_DELETED", "Branch deleted", categoryRefs, true, true},
	TagCreated:    {"TAG_CREATED", "Tag created", categoryRefs, true, true},
	TagUpdated:    {"TAG_UPDATED", "Tag updated", categoryRefs, true, true},
	TagDeleted:    {"TAG_DELETED", "Tag deleted", categoryRefs, true, true},
	FileEdited:    {"FILE_EDITED", "File edited in the platform's editor", categoryRefs, true, true},

	PullRequestOpened:   {"PULL_REQUEST_OPENED", "Pull request opened", categoryPullRequests, true, true},
	PullRequestRescoped: {"PULL_REQUEST_RESCOPED", "Pull request commits changed", categoryPullRequests, true, true},
	PullRequestFieldEdited: {"PULL_REQUEST_FIELD_EDITED", "Pull request title, description or draft changed", categoryPullRequests,
		true, true},
	PullRequestTargetChanged:    {"PULL_REQUEST_TARGET_CHANGED", "Pull request target branch changed", categoryPullRequests, true, true},
	PullRequestReviewersUpdated: {"PULL_REQUEST_REVIEWERS_UPDATED", "Pull request reviewers changed", categoryPullRequests, true, false},
	PullRequestApproved:         {"PULL_REQUEST_APPROVED", "Pull request approved", categoryPullRequests, true, true},
	PullRequestUnapproved:       {"PULL_REQUEST_UNAPPROVED", "Pull request approval removed", categoryPullRequests, true, true},
	PullRequestChangesRequested: {"PULL_REQUEST_CHANGES_REQUESTED", "Pull request changes requested", categoryPullRequests, true, true},
	PullRequestChangesRequestRemoved: {"PULL_REQUEST_CHANGES_REQUEST_REMOVED", "Pull request changes request removed", categoryPullRequests,
		true, true},
	PullRequestMerged:          {"PULL_REQUEST_MERGED", "Pull request merged", categoryPullRequests, true, true},
	PullRequestDeclined:        {"PULL_REQUEST_DECLINED", "Pull request declined", categoryPullRequests, true, true},
	PullRequestDeleted:         {"PULL_REQUEST_DELETED", "Pull request deleted", categoryPullRequests, true, false},
	PullRequestCommentAdded:    {"PULL_REQUEST_COMMENT_ADDED", "Pull request comment added", categoryPullRequests, true, true},
	PullRequestCommentEdited:   {"PULL_REQUEST_COMMENT_EDITED", "Pull request comment edited", categoryPullRequests, true, true},
	PullRequestCommentDeleted:  {"PULL_REQUEST_COMMENT_DELETED", "Pull request comment deleted", categoryPullRequests, true, true},
	PullRequestCommentResolved: {"PULL_REQUEST_COMMENT_RESOLVED", "Pull request comment resolved", categoryPullRequests, false, true},
	PullRequestCommentReopened: {"PULL_REQUEST_COMMENT_REOPENED", "Pull request comment reopened", categoryPullRequests, false, true},

	CommitCommentAdded:   {"COMMIT_COMMENT_ADDED", "Commit comment added", categoryCommits, true, true},
	CommitCommentEdited:  {"COMMIT_COMMENT_EDITED", "Commit comment edited", categoryCommits, true, false},
	CommitCommentDeleted: {"COMMIT_COMMENT_DELETED", "Commit comment deleted", categoryCommits, true, false},

	BuildStatusSet:    {"BUILD_STATUS_SET", "Build status set", categoryBuilds, true, true},
	PipelineStarted:   {"PIPELINE_STARTED", "Pipeline started", categoryBuilds, false, true},
	PipelineSucceeded: {"PIPELINE_SUCCEEDED", "Pipeline succeeded", categoryBuilds, false, true},
	PipelineFailed:    {"PIPELINE_FAILED", "Pipeline failed", categoryBuilds, false, true},
	PipelineStopped:   {"PIPELINE_STOPPED", "Pipeline stopped", categoryBuilds, false, true},

	RepositoryCreated:            {"REPOSITORY_CREATED", "Repository created", categoryRepositories, false, true},
	RepositoryForked:             {"REPOSITORY_FORKED", "Repository forked", categoryRepositories, true, true},
	RepositoryFieldEdited:        {"REPOSITORY_FIELD_EDITED", "Repository name or details changed", categoryRepositories, true, true},
	RepositoryTransferred:        {"REPOSITORY_TRANSFERRED", "Repository transferred", categoryRepositories, false, true},
	RepositoryImported:           {"REPOSITORY_IMPORTED", "Repository imported", categoryRepositories, false, true},
	RepositoryDeleted:            {"REPOSITORY_DELETED", "Repository deleted", categoryRepositories, false, true},
	RepositoryMirrorSynchronized: {"REPOSITORY_MIRROR_SYNCHRONIZED", "Repository mirror synchronized", categoryRepositories, true, false},
	RepositorySecretDetected:     {"REPOSITORY_SECRET_DETECTED", "Secret detected in a repository", categoryRepositories, true, false},
	ProjectFieldEdited:           {"PROJECT_FIELD_EDITED", "Project name or details changed", categoryRepositories, true, true},

	IssueCreated:   {"ISSUE_CREATED", "Issue created", categoryIssues, false, true},
	IssueUpdated:   {"ISSUE_UPDATED", "Issue updated", categoryIssues, false, true},
	IssueCommented: {"ISSUE_COMMENTED", "Issue commented", categoryIssues, false, true},
}

var eventTypeByKey = func() map[string]EventType {
	m := make(map[string]EventType, eventTypeCount)
	for t, info := range eventTypes {
		m[info.key] = EventType(t)
	}
	return m
}()

// EventTypes lists every event type in the order of the configuration API.
func EventTypes() []EventType {
	all := make([]EventType, eventTypeCount)
	for i := range all {
		all[i] = EventType(i)
	}
	return all
}

// ParseEventType finds a type by its key, such as "BRANCH_CREATED".
func ParseEventType(key string) (EventType, bool) {
	t, ok := eventTypeByKey[key]
	return t, ok
}

// String is the key of the type, as the configuration API writes it.
func (t EventType) String() string { return eventTypes[t].key }

// Name is what the console calls the type.
func (t EventType) Name() string { return eventTypes[t].name }

// Category is the group that the type is shown in.
func (t EventType) Category() string { return eventTypes[t].category }

// Editions are those whose events can have the type.
func (t EventType) Editions() []Edition {
	e := make([]Edition, 0, 2)
	if eventTypes[t].selfHosted {
		e = append(e, SelfHosted)
	}
	if eventTypes[t].cloud {
		e = append(e, Cloud)
	}
	return e
}

// ComesFrom reports whether platforms of any of the editions send it.
func (t EventType) ComesFrom(editions ...Edition) bool {
	return slices.ContainsFunc(t.Editions(), func(e Edition) bool { return slices.Contains(editions, e) })
}

// hasBranch reports whether events of the type have a branch or tag, which branch
// filters look at.
func (t EventType) hasBranch() bool {
	switch t.Category() {
	case categoryRefs, categoryPullRequests, categoryBuilds:
		return true
	}
	return false
}

// ofPullRequest reports whether events of the type are about a pull request,
// which has a source branch and reviewers.
func (t EventType) ofPullRequest() bool { return t.Category() == categoryPullRequests }

// hasUser reports whether events of the type say who caused them, which filters of
// users and groups look at. The self-hosted platform's builds do not.
func (t EventType) hasUser() bool { return t != BuildStatusSet }

// hasRepository reports whether events of the type are of a repository, not of a
// project as a whole.
func (t EventType) hasRepository() bool { return t != ProjectFieldEdited }

// MarshalText writes the key.
func (t EventType) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// AppendText appends the key.
func (t EventType) AppendText(b []byte) ([]byte, error) { return append(b, t.String()...), nil }

// UnmarshalText reads a key and refuses one that is unknown.
func (t *EventType) UnmarshalText(b []byte) error {
	v, ok := eventTypeByKey[string(b)]
	if !ok {
		return unknownEventType(string(b))
	}
	*t = v
	return nil
}

type unknownEventType string

func (k unknownEventType) Error() string { return "unknown event type " + string(k) }

// TypeSet is a set of event types.
type TypeSet uint64

// NewTypeSet makes a set of the types given.
func NewTypeSet(types ...EventType) TypeSet {
	var s TypeSet
	for _, t := range types {
		s |= 1 << t
	}
	return s
}

// Has reports whether t is in the set.
func (s TypeSet) Has(t EventType) bool { return s&(1<<t) != 0 }

// Any reports whether the two sets share a type.
func (s TypeSet) Any(o TypeSet) bool { return s&o != 0 }

// Types lists the set in the order of the configuration API.
func (s TypeSet) Types() []EventType {
	var l []EventType
	for t := range eventTypeCount {
		if s.Has(t) {
			l = append(l, t)
		}
	}
	return l
}
