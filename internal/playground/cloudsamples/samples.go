// Package cloudsamples writes webhook bodies as the cloud edition of the
// code-hosting platform sends them, one or more of every event key: for the
// demo and for tests. Where no real body of a key is known, it is written from
// the vendor's description.
package cloudsamples

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Sample is one kind of webhook request.
type Sample struct {
	Name     string // such as "pull-request-opened"
	EventKey string // for the header X-Event-Key, which alone says it

	body func(*teller) object
}

// Place is the repository that a body is about.
type Place struct{ Site, Workspace, Repository string }

// Engine is a place of the demo's world.
var Engine = Place{"https://bitbucket.org", "atlas", "engine"}

// Render writes a body. The number seq decides on people, ids and hashes: the
// same seq gives the same pull request in every sample, so that samples rendered
// one after the other tell a story.
func (s Sample) Render(at Place, seq int64, now time.Time) []byte {
	t := &teller{Place: at, seq: seq, now: now}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s.body(t)); err != nil {
		panic(fmt.Sprintf("sample %s: %v", s.Name, err)) // no value of ours can fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Samples lists them in the order in which a day of a project brings them.
func Samples() []Sample {
	return []Sample{
		{"repository-created", "repo:created", (*teller).repositoryOnly},
		{"repository-imported", "repo:imported", (*teller).repositoryOnly},
		{"branch-created", "repo:push", (*teller).branchCreated},
		{"branch-pushed", "repo:push", (*teller).branchPushed},
		{"branch-forced", "repo:push", (*teller).branchForced},
		{"file-edited", "repo:push", (*teller).fileEdited},
		{"several-pushed", "repo:push", (*teller).severalPushed},
		{"pipeline-started", "repo:commit_status_created", (*teller).pipelineStarted},
		{"pipeline-succeeded", "repo:commit_status_updated", (*teller).pipelineSucceeded},
		{"pipeline-failed", "repo:commit_status_updated", (*teller).pipelineFailed},
		{"pipeline-stopped", "repo:commit_status_updated", (*teller).pipelineStopped},
		{"pipeline-traced", "pipeline:span_created", (*teller).spans},
		{"build-started", "repo:commit_status_created", (*teller).buildStarted},
		{"build-failed", "repo:commit_status_updated", (*teller).buildFailed},
		{"pull-request-opened", "pullrequest:created", (*teller).opened},
		{"pull-request-commented", "pullrequest:comment_created", (*teller).commented},
		{"pull-request-answered", "pullrequest:comment_created", (*teller).answered},
		{"pull-request-comment-edited", "pullrequest:comment_updated", (*teller).commented},
		{"pull-request-comment-resolved", "pullrequest:comment_resolved", (*teller).commented},
		{"pull-request-comment-reopened", "pullrequest:comment_reopened", (*teller).commented},
		{"pull-request-comment-deleted", "pullrequest:comment_deleted", (*teller).commentDeleted},
		{"pull-request-changes-requested", "pullrequest:changes_request_created", (*teller).changesRequested},
		{"pull-request-pushed", "pullrequest:push", (*teller).pushed},
		{"pull-request-changes-request-removed", "pullrequest:changes_request_removed", (*teller).changesRequested},
		{"pull-request-updated", "pullrequest:updated", (*teller).edited},
		{"pull-request-approved", "pullrequest:approved", (*teller).approved},
		{"pull-request-unapproved", "pullrequest:unapproved", (*teller).approved},
		{"pull-request-merged", "pullrequest:fulfilled", (*teller).merged},
		{"pull-request-declined", "pullrequest:rejected", (*teller).declined},
		{"branch-deleted", "repo:push", (*teller).branchDeleted},
		{"tag-created", "repo:push", (*teller).tagCreated},
		{"tag-moved", "repo:push", (*teller).tagMoved},
		{"tag-deleted", "repo:push", (*teller).tagDeleted},
		{"commit-commented", "repo:commit_comment_created", (*teller).commitCommented},
		{"issue-created", "issue:created", (*teller).issueCreated},
		{"issue-updated", "issue:updated", (*teller).issueUpdated},
		{"issue-commented", "issue:comment_created", (*teller).issueCommented},
		{"repository-forked", "repo:fork", (*teller).forked},
		{"repository-renamed", "repo:updated", (*teller).renamed},
		{"repository-described", "repo:updated", (*teller).described},
		{"project-renamed", "project:updated", (*teller).projectRenamed},
		{"repository-transferred", "repo:transfer", (*teller).transferred},
		{"repository-deleted", "repo:deleted", (*teller).repositoryOnly},
	}
}
