package threads

import "testing"

// Issues that were not compared are counted, and the first of them named.
func TestSkippedIssuesAreNamed(t *testing.T) {
	var v VerifyJob
	for n := range int64(MaxListed + 5) {
		v.Skip(IssueEntries{CloudIssueID: 900 + n, Entries: make([]Entry, 2)}, "KEY-1")
	}
	if v.Issues != MaxListed+5 || v.NotCompared != 2*(MaxListed+5) || len(v.Skipped) != MaxListed || v.Skipped[1] != (SkippedIssue{901, "KEY-1"}) {
		t.Errorf("%d issues, %d records, %d named, the second %+v", v.Issues, v.NotCompared, len(v.Skipped), v.Skipped[1])
	}
}
