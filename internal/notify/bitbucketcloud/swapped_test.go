package bitbucketcloud

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/playground/cloudsamples"
)

// alike are the keys whose bodies have the same shape: the README tells operators.
// repo:transfer may come without the owner before, and its own body passes for no
// other.
var alike = [][]string{
	{"pullrequest:created", "pullrequest:updated", "pullrequest:push"},
	{"pullrequest:approved", "pullrequest:unapproved"},
	{"pullrequest:changes_request_created", "pullrequest:changes_request_removed"},
	{"pullrequest:comment_created", "pullrequest:comment_updated", "pullrequest:comment_resolved", "pullrequest:comment_reopened"},
	{"repo:commit_status_created", "repo:commit_status_updated"},
	{"repo:created", "repo:imported", "repo:deleted", "repo:transfer"},
}

// A signed body can be announced under the keys of the same shape alone: every
// other pair is refused, or gives no event.
func TestBodiesThatPassForOtherEvents(t *testing.T) {
	got, want := map[string]string{}, map[string]string{}
	for _, keys := range alike {
		for _, key := range keys {
			others := slices.DeleteFunc(slices.Clone(keys), func(other string) bool { return other == key })
			if slices.Sort(others); key != "repo:transfer" {
				want[key] = strings.Join(others, " ")
			}
		}
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
