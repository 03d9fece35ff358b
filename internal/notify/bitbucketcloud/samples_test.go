package bitbucketcloud

import (
	"encoding/json"
	"path"
	"slices"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/notifytest"
	"outrigger/internal/playground/cloudsamples"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// sample decodes one of the written bodies.
func sample(t *testing.T, name string, seq int64) []notify.Event {
	t.Helper()
	for _, s := range cloudsamples.Samples() {
		if s.Name == name {
			_, events, err := Decode(s.EventKey, s.Render(cloudsamples.Engine, seq, noon), base)
			if err != nil {
				t.Fatal(err)
			}
			return events
		}
	}
	t.Fatalf("no sample is called %s", name)
	return nil
}

// TestSamples holds the whole of what is made of a usual body of every key.
func TestSamples(t *testing.T) {
	for _, s := range cloudsamples.Samples() {
		t.Run(s.Name, func(t *testing.T) {
			got, err := json.Marshal(sample(t, s.Name, 6))
			if err != nil {
				t.Fatal(err)
			}
			if err := notifytest.Golden(path.Join("events", s.Name), got); err != nil {
				t.Error(err)
			}
		})
	}
}

// allKeys are the event keys of the platform's own description of its API, to
// which a webhook can subscribe, and what the design's table says of each; of
// those that several types stand for, the first.
var allKeys = map[string]string{
	"repo:push": "BRANCH_UPDATED", "repo:fork": "REPOSITORY_FORKED", "repo:updated": "REPOSITORY_FIELD_EDITED", "repo:transfer": "REPOSITORY_TRANSFERRED",
	"repo:created": "REPOSITORY_CREATED", "repo:imported": "REPOSITORY_IMPORTED", "repo:deleted": "REPOSITORY_DELETED",
	"repo:commit_comment_created": "COMMIT_COMMENT_ADDED", "repo:commit_status_created": "PIPELINE_STARTED", "repo:commit_status_updated": "PIPELINE_FAILED",
	"project:updated": "PROJECT_FIELD_EDITED", "issue:created": "ISSUE_CREATED", "issue:updated": "ISSUE_UPDATED", "issue:comment_created": "ISSUE_COMMENTED",
	"pullrequest:created": "PULL_REQUEST_OPENED", "pullrequest:updated": "PULL_REQUEST_FIELD_EDITED", "pullrequest:push": "PULL_REQUEST_RESCOPED",
	"pullrequest:fulfilled": "PULL_REQUEST_MERGED", "pullrequest:rejected": "PULL_REQUEST_DECLINED",
	"pullrequest:approved": "PULL_REQUEST_APPROVED", "pullrequest:unapproved": "PULL_REQUEST_UNAPPROVED",
	"pullrequest:changes_request_created": "PULL_REQUEST_CHANGES_REQUESTED", "pullrequest:changes_request_removed": "PULL_REQUEST_CHANGES_REQUEST_REMOVED",
	"pullrequest:comment_created": "PULL_REQUEST_COMMENT_ADDED", "pullrequest:comment_updated": "PULL_REQUEST_COMMENT_EDITED", "pullrequest:comment_deleted": "PULL_REQUEST_COMMENT_DELETED",
	"pullrequest:comment_resolved": "PULL_REQUEST_COMMENT_RESOLVED", "pullrequest:comment_reopened": "PULL_REQUEST_COMMENT_REOPENED",
	"pipeline:span_created": "",
}

// Every key has a written body, and gives what the table says.
func TestEveryKey(t *testing.T) {
	if len(allKeys) != 29 || len(kinds) != len(allKeys) {
		t.Fatalf("%d keys, of which %d are decoded; the platform has 29", len(allKeys), len(kinds))
	}
	types := map[string][]string{}
	for _, s := range cloudsamples.Samples() {
		first := ""
		if events := sample(t, s.Name, 6); len(events) > 0 {
			first = events[0].Types[0].String()
		}
		types[s.EventKey] = append(types[s.EventKey], first)
	}
	for key, want := range allKeys {
		if !slices.Contains(types[key], want) {
			t.Errorf("the bodies of %s give %q, want %q", key, types[key], want)
		}
	}
}

// All event types of the cloud edition come from some body.
func TestEveryCloudType(t *testing.T) {
	var seen notify.TypeSet
	for _, s := range cloudsamples.Samples() {
		for _, e := range sample(t, s.Name, 6) {
			seen |= e.TypeSet()
		}
	}
	for _, x := range notify.EventTypes() {
		cloud := x.ComesFrom(notify.Cloud)
		if cloud && !seen.Has(x) && x != notify.PullRequestTargetChanged { // which takes what was seen last
			t.Errorf("no body gives %s", x)
		}
		if !cloud && seen.Has(x) {
			t.Errorf("%s is none of the cloud edition", x)
		}
	}
}
