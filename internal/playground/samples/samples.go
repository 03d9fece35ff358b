// Package samples writes webhook bodies as the self-hosted platform sends
// them, about an invented project: for the demo, for benchmarks, for tests.
package samples

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// BaseURL is where the platform of the samples is said to be.
const BaseURL = "https://git.example.com"

// Sample is one kind of webhook request.
type Sample struct {
	Name     string // such as "pull-request-opened"
	EventKey string // for the header X-Event-Key

	body func(*teller) object
}

// Render writes a body. The number seq decides on names, ids and hashes: the
// same seq gives the same pull request and branch in every sample, so that
// samples rendered one after the other tell a story. An even seq gives times
// as milliseconds, an odd one as ISO 8601, as the platform does since its
// version 10.
func (s Sample) Render(seq int64, now time.Time) []byte {
	body := s.body(&teller{seq: seq, now: now})
	body["eventKey"], body["date"] = s.EventKey, now.Format("2006-01-02T15:04:05-0700")
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		panic(fmt.Sprintf("sample %s: %v", s.Name, err)) // no value of ours can fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Samples lists them in the order in which a day of a project brings them.
func Samples() []Sample {
	return []Sample{
		{"branch-created", "repo:refs_changed", (*teller).branchCreated},
		{"branch-pushed", "repo:refs_changed", (*teller).branchPushed},
		{"file-edited", "repo:refs_changed", (*teller).fileEdited},
		{"several-branches-pushed", "repo:refs_changed", (*teller).severalPushed},
		{"personal-branch-pushed", "repo:refs_changed", (*teller).personalPushed},
		{"pull-request-opened", "pr:opened", (*teller).pullRequestOnly},
		{"pull-request-reviewers-changed", "pr:reviewer:updated", (*teller).reviewersChanged},
		{"pull-request-commented", "pr:comment:added", (*teller).commented},
		{"pull-request-comment-edited", "pr:comment:edited", (*teller).commentEdited},
		{"pull-request-comment-deleted", "pr:comment:deleted", (*teller).commentDeleted},
		{"pull-request-task-added", "pr:comment:added", (*teller).taskAdded},
		{"pull-request-needs-work", "pr:reviewer:needs_work", (*teller).needsWork},
		{"pull-request-rescoped", "pr:from_ref_updated", (*teller).rescoped},
		{"pull-request-needs-work-removed", "pr:reviewer:unapproved", (*teller).needsWorkRemoved},
		{"pull-request-edited", "pr:modified", (*teller).edited},
		{"pull-request-retargeted", "pr:modified", (*teller).retargeted},
		{"pull-request-approved", "pr:reviewer:approved", (*teller).approved},
		{"pull-request-unapproved", "pr:reviewer:unapproved", (*teller).unapproved},
		{"pull-request-merged", "pr:merged", (*teller).merged},
		{"pull-request-declined", "pr:declined", (*teller).declined},
		{"pull-request-deleted", "pr:deleted", (*teller).pullRequestOnly},
		{"branch-deleted", "repo:refs_changed", (*teller).branchDeleted},
		{"tag-created", "repo:refs_changed", (*teller).tagCreated},
		{"tag-moved", "repo:refs_changed", (*teller).tagMoved},
		{"tag-deleted", "repo:refs_changed", (*teller).tagDeleted},
		{"commit-commented", "repo:comment:added", (*teller).commitCommented},
		{"commit-comment-edited", "repo:comment:edited", (*teller).commitCommentEdited},
		{"commit-comment-deleted", "repo:comment:deleted", (*teller).commitCommented},
		{"repository-forked", "repo:forked", (*teller).forked},
		{"repository-renamed", "repo:modified", (*teller).repositoryRenamed},
		{"project-renamed", "project:modified", (*teller).projectRenamed},
		{"mirror-synchronized", "mirror:repo_synchronized", (*teller).mirrorSynchronized},
		{"secret-detected", "repo:secret_detected", (*teller).secretDetected},
	}
}
