package bitbucketcloud

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/playground/cloudsamples"
)

// passes says for which other events a signed body passes, that is announced under
// their keys: the documentation tells operators. repo:transfer may come without the owner
// before, and its own body passes for no other.
var passes = map[string]string{
	"repo:created":  "repo:deleted repo:imported repo:transfer",
	"repo:imported": "repo:created repo:deleted repo:transfer",
	"repo:deleted":  "repo:created repo:imported repo:transfer",

	"repo:commit_status_created": "repo:commit_status_updated",
	"repo:commit_status_updated": "repo:commit_status_created",

	"issue:updated":         "issue:comment_created issue:created",
	"issue:comment_created": "issue:created",

	"pullrequest:created":                 "pullrequest:push pullrequest:updated",
	"pullrequest:updated":                 "pullrequest:created pullrequest:push",
	"pullrequest:push":                    "pullrequest:created pullrequest:updated",
	"pullrequest:fulfilled":               anyOf,
	"pullrequest:rejected":                anyOf,
	"pullrequest:approved":                anyOf + " pullrequest:unapproved",
	"pullrequest:unapproved":              anyOf + " pullrequest:approved",
	"pullrequest:changes_request_created": anyOf + " pullrequest:changes_request_removed",
	"pullrequest:changes_request_removed": anyOf + " pullrequest:changes_request_created",
	"pullrequest:comment_created":         anyOf + " pullrequest:comment_reopened pullrequest:comment_resolved pullrequest:comment_updated",
	"pullrequest:comment_updated":         anyOf + " pullrequest:comment_created pullrequest:comment_reopened pullrequest:comment_resolved",
	"pullrequest:comment_resolved":        anyOf + " pullrequest:comment_created pullrequest:comment_reopened pullrequest:comment_updated",
	"pullrequest:comment_reopened":        anyOf + " pullrequest:comment_created pullrequest:comment_resolved pullrequest:comment_updated",
	"pullrequest:comment_deleted":         anyOf,
}

// anyOf are what a body of any pull request passes for.
const anyOf = "pullrequest:created pullrequest:push pullrequest:updated"

// Every other pair of a signed body and a key gives no event.
func TestBodiesThatPassForOtherEvents(t *testing.T) {
	got, want := map[string]string{}, map[string]string{}
	for key, others := range passes {
		list := strings.Fields(others)
		slices.Sort(list)
		want[key] = strings.Join(list, " ")
	}
	pass := map[string][]string{}
	for _, s := range cloudsamples.Samples() {
		body := s.Render(cloudsamples.Engine, 6, noon)
		for other := range allKeys {
			if _, events, err := Decode(other, body, base); other != s.EventKey && err == nil && len(events) > 0 {
				pass[s.EventKey] = append(pass[s.EventKey], other)
			}
		}
	}
	for key, others := range pass {
		slices.Sort(others)
		got[key] = strings.Join(slices.Compact(others), " ")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
