package notify

import (
	"strings"
	"testing"

	"outrigger/internal/fault"
)

func TestEditions(t *testing.T) {
	for kind, want := range map[string][]EventType{"bitbucket-dc": {IssueCreated}, "bitbucket-cloud": {CommitCommentEdited}} {
		r := Rule{Connection: "x", Filter: Filter{EventTypes: []EventType{BranchCreated, want[0]}}}
		var f fault.Fields
		r.ValidateEdition(&f, (&Connection{Kind: kind}).Edition())
		if len(f) != 1 || !strings.Contains(f[0].Message, want[0].String()) {
			t.Errorf("%s: %v", kind, f)
		}
	}
}

func TestMaskThatLooksLikeAWildcard(t *testing.T) {
	for mask, better := range map[string]string{
		"release/*":          "release/.*",
		"feature-*":          "feature-.*",
		"hotfix*":            "hotfix.*",
		"release/*/rc":       "release/.*/rc",
		"release/*|hotfix/*": "release/.*|hotfix/.*",
		"(release_*|main)":   "(release_.*|main)",

		"":                "",
		"release/.*":      "",
		"v[0-9]*":         "",
		`v\d*`:            "",
		`a\w*/b`:          "",
		"(ab)*":           "",
		"ab*c":            "",
		"releases?/.*":    "",
		`release/\*`:      "",
		"[a/*]":           "",
		"main|release/.*": "",
	} {
		r := Rule{Filter: Filter{BranchMask: mask}}
		w := r.Warnings()
		switch {
		case better == "" && len(w) != 0:
			t.Errorf("%s: %v", mask, w)
		case better != "" && (len(w) != 1 || w[0].Name != "branchMask" || !strings.HasSuffix(w[0].Message, "write "+better+".")):
			t.Errorf("%s: %v", mask, w)
		}
	}
}

// What people bring along from programs in JavaScript, and a status of builds that
// the rule does not take.
func TestWarningsOfTheCloudEdition(t *testing.T) {
	const filter, status = "destinationBranchFilter", "expectedCommitStatus"
	builds := []EventType{BuildStatusSet}
	for _, c := range []struct {
		name string
		rule Filter
		want string
	}{
		{"a literal", Filter{EventTypes: builds, DestinationBranchFilter: "/^main$/"}, filter},
		{"a literal with flags", Filter{EventTypes: builds, DestinationBranchFilter: "/^main$/gi"}, filter},
		{"a wildcard", Filter{EventTypes: builds, DestinationBranchFilter: "release/*"}, filter},
		{"white space", Filter{EventTypes: builds, DestinationBranchFilter: " main"}, filter},
		{"a pattern", Filter{EventTypes: builds, DestinationBranchFilter: "^release/|^main$", ExpectedCommitStatus: StatusFailure}, ""},
		{"a slash", Filter{EventTypes: builds, DestinationBranchFilter: "/hotfix"}, ""},
		{"Java's with slashes", Filter{EventTypes: builds, BranchMask: "/x/"}, ""},
		{"failures of pipelines", Filter{EventTypes: []EventType{PipelineFailed}, ExpectedCommitStatus: StatusFailure}, status},
		{"pipelines whatever the status", Filter{EventTypes: []EventType{PipelineFailed}, ExpectedCommitStatus: StatusBoth}, ""},
	} {
		r := Rule{Filter: c.rule}
		w := r.Warnings()
		if c.want == "" && len(w) > 0 || c.want != "" && (len(w) != 1 || w[0].Name != c.want) {
			t.Errorf("%s: %v", c.name, w)
		}
	}
}

// Builds have no user: beside other events they are what a filter of users never
// takes.
func TestWarningsOfBuildsWithoutUsers(t *testing.T) {
	both := []EventType{BuildStatusSet, BranchUpdated}
	for _, c := range []struct {
		name   string
		filter Filter
		want   string
	}{
		{"users", Filter{EventTypes: both, Users: []string{"ada"}}, "users"},
		{"groups", Filter{EventTypes: both, Groups: []string{"devs"}}, "groups"},
		{"neither", Filter{EventTypes: both, IgnoredUsers: []string{"ada"}}, ""},
		{"no builds", Filter{EventTypes: both[1:], Users: []string{"ada"}}, ""},
	} {
		var got string
		for _, w := range (&Rule{Filter: c.filter}).Warnings() {
			got += w.Name
		}
		if got != c.want {
			t.Errorf("%s: warnings at %q, want %q", c.name, got, c.want)
		}
	}
}
