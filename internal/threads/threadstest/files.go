// Package threadstest is what tests of the wing share: files with everything
// wrong with them that can be, and a model of what is to come out.
package threadstest

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

// Records draws the records of a host's database that has everything wrong
// with it: forests, and in them cycles within an issue and through several,
// self-parents, comments given twice, parents in another issue, in any order.
func Records(t *rapid.T) []threads.Record {
	issues := int64(rapid.IntRange(1, 8).Draw(t, "issues"))
	comments := int64(rapid.IntRange(1, 60).Draw(t, "comments"))
	list := make([]threads.Record, rapid.IntRange(0, 80).Draw(t, "records"))
	for i := range list {
		comment := 100 + rapid.Int64Range(0, comments).Draw(t, "comment")
		r := threads.Record{IssueID: 10 + comment%issues, CommentID: comment}
		switch rapid.SampledFrom([]string{"earlier", "earlier", "earlier", "any", "self", "root", "far"}).Draw(t, "parent") {
		case "earlier": // a forest, mostly within the issue
			r.ParentCommentID = max(100, comment-issues*rapid.Int64Range(1, 3).Draw(t, "distance"))
		case "any": // cycles, other issues
			r.ParentCommentID = 100 + rapid.Int64Range(0, comments).Draw(t, "id")
		case "self":
			r.ParentCommentID = comment
		case "root":
			r.ParentCommentID = 50 + rapid.Int64Range(0, 9).Draw(t, "id")
		case "far":
			r.ParentCommentID = rapid.Int64().Draw(t, "id")
		}
		if rapid.IntRange(0, 9).Draw(t, "moved") == 0 {
			r.IssueID = 10 + rapid.Int64Range(0, issues).Draw(t, "issue")
		}
		list[i] = r
	}
	return list
}

// Mappings draws the id mappings of records: some are missing, some come twice,
// some are about other things, in any order.
func Mappings(t *rapid.T, records []threads.Record) []threads.IDMapping {
	var list []threads.IDMapping
	missing := rapid.SampledFrom([]int{0, 5, 20, 100}).Draw(t, "missing in a hundred")
	seen := map[threads.IDMapping]bool{}
	add := func(entityType string, id int64) {
		key := threads.IDMapping{EntityType: entityType, ServerID: id}
		if seen[key] {
			return
		}
		seen[key] = true
		if rapid.IntRange(1, 100).Draw(t, "luck") <= missing {
			return
		}
		key.CloudID = 900000 + id*7
		if id < 0 || id > 1<<50 {
			key.CloudID = id
		}
		if rapid.IntRange(0, 19).Draw(t, "twice") == 0 {
			list = append(list, threads.IDMapping{EntityType: entityType, ServerID: id, CloudID: 1})
		}
		list = append(list, key)
	}
	for _, r := range records {
		add(threads.EntityIssue, r.IssueID)
		add(threads.EntityComment, r.CommentID)
		add(threads.EntityComment, r.ParentCommentID)
	}
	add("jira/classic:project", 10200)
	return rapid.Permutation(list).Draw(t, "order")
}

// Collide returns some of the mappings the cloud id of another one.
func Collide(t *rapid.T, mappings []threads.IDMapping) []threads.IDMapping {
	list := slices.Clone(mappings)
	if len(list) == 0 {
		return list
	}
	for range rapid.IntRange(0, 12).Draw(t, "collisions") {
		a := rapid.IntRange(0, len(list)-1).Draw(t, "which")
		b := rapid.IntRange(0, len(list)-1).Draw(t, "with")
		if list[a].EntityType == list[b].EntityType {
			list[a].CloudID = list[b].CloudID
		}
	}
	return list
}

// Hierarchy writes records as an array.
func Hierarchy(records []threads.Record) string {
	b := []byte{'['}
	for i, r := range records {
		if i > 0 {
			b = append(b, ',')
		}
		b = format.AppendRecord(b, r)
	}
	return string(append(b, ']'))
}

// CSV writes mappings as the report does.
func CSV(mappings []threads.IDMapping) string {
	var b strings.Builder
	b.WriteString(threads.MappingHeader + "\n")
	for _, m := range mappings {
		b.Write(format.AppendMapping(nil, m))
	}
	return b.String()
}

// Many returns n records of n/perIssue issues with all their mappings, in the
// order of a host's database.
func Many(n, perIssue int64) (records []threads.Record, mappings []threads.IDMapping) {
	for i := range n {
		issue, comment := 10_000+i/perIssue, 1_000_000+2*i
		if i%perIssue == 0 {
			mappings = append(mappings, threads.IDMapping{EntityType: threads.EntityIssue, ServerID: issue, CloudID: 3_000_000 + issue})
		}
		parent := comment - 1 // the one comment of the issue that is no reply
		if before := i % perIssue; before > 0 {
			parent = comment - 2*((before+1)/2)
		}
		records = append(records, threads.Record{IssueID: issue, CommentID: comment, ParentCommentID: parent})
		for _, id := range []int64{comment - 1, comment} {
			if id == comment || i%perIssue == 0 {
				mappings = append(mappings, threads.IDMapping{EntityType: threads.EntityComment, ServerID: id, CloudID: 50_000_000 + id})
			}
		}
	}
	return records, mappings
}

// Sent names the drafts that were sent and not read yet.
func Sent(list []threads.Upload) (d threads.Drafts) {
	for _, u := range list {
		switch u.Kind {
		case threads.HierarchyFile:
			d.Hierarchy.ID = u.ID
		case threads.MappingsFile:
			d.Mappings.ID = u.ID
		}
	}
	return d
}
