package bitbucketdc

import (
	"fmt"
	"slices"
	"testing"

	"outrigger/internal/notify"
)

// A pull request from a fork names it; one from a branch of its own repository does
// not.
func TestAPullRequestFromAForkNamesIt(t *testing.T) {
	const body = `{"eventKey":"pr:opened","pullRequest":{"id":1,"fromRef":{"displayId":"f","repository":%s},
		"toRef":{"displayId":"main","repository":{"slug":"canoe","project":{"key":"ATL"}}}}}`
	for from, want := range map[string][]notify.Fact{
		`{"slug":"canoe","project":{"key":"~ADA"}}`: {{Name: "From", Value: "~ADA/canoe"}},
		`{"slug":"fork","project":{"key":"ATL"}}`:   {{Name: "From", Value: "ATL/fork"}},
		`{"slug":"Canoe","project":{"key":"atl"}}`:  nil,
		`{"slug":"canoe"}`:                          nil,
		`null`:                                      nil,
	} {
		if got := decodeOne(t, "pr:opened", fmt.Sprintf(body, from)).Facts; !slices.Equal(got, want) {
			t.Errorf("from %s: %v, want %v", from, got, want)
		}
	}
}

// A rescope that does not say where the source branch was does not say that it was
// nowhere.
func TestARescopeWithoutTheCommitBefore(t *testing.T) {
	const now = "1111111111111111111111111111111111111111"
	const body = `{"eventKey":"pr:from_ref_updated"%s,"pullRequest":{"id":1,"fromRef":{"displayId":"f","latestCommit":"` + now + `"}}}`
	for before, want := range map[string]int{``: 0, `,"previousFromHash":null`: 0, `,"previousFromHash":"2222222222222222222222222222222222222222"`: 1} {
		if e := decodeOne(t, "pr:from_ref_updated", fmt.Sprintf(body, before)); len(e.Changes) != want {
			t.Errorf("%q: %v", before, e.Changes)
		}
	}
}
