package samples

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// CommentsSite is the cloud site that the mappings of Comments are for.
const CommentsSite = "https://site.example.net"

const (
	commentIssues  = 150
	commentReplies = 12 // of an issue, on average
	firstIssue     = 10_001
	firstComment   = 50_001
	cloudIssues    = 890_000 // what ids grow by on their way to the cloud
	cloudComments  = 3_000_000
)

type commentRecord struct {
	Issue   int64 `json:"issueId"`
	Comment int64 `json:"commentId"`
	Parent  int64 `json:"parentCommentId"`
}

// Comments returns the two files of a migration of some 1,800 replies, the same
// ones every time: comments_hierarchy_export.json and id-mappings.csv. A few
// records are what real files have too: a comment that answers itself, two that
// answer each other, one that answers a comment of another issue, and some
// whose comment or issue did not go to the cloud.
func Comments() (hierarchy, mappings []byte) {
	random := rand.New(rand.NewPCG(1, 2))
	var records []commentRecord
	var csv strings.Builder
	csv.WriteString("entityType,serverId,cloudId\n")
	next := int64(firstComment)
	comment := func(known bool) int64 {
		id := next
		next++
		if known {
			fmt.Fprintf(&csv, "jira:comment,%d,%d\n", id, id+cloudComments)
		}
		return id
	}
	for n := range int64(commentIssues) {
		issue := firstIssue + n
		if n != commentIssues-1 { // the last one stayed behind
			fmt.Fprintf(&csv, "jira:issue,%d,%d\n", issue, issue+cloudIssues)
		}
		before := []int64{comment(true)}
		for k := range random.IntN(2 * commentReplies) {
			id := comment(k%9 != 8 || n%10 != 0)
			records = append(records, commentRecord{issue, id, before[random.IntN(len(before))]})
			before = append(before, id)
		}
	}
	own, one, other := comment(true), comment(true), comment(true)
	records = append(records,
		commentRecord{firstIssue, own, own},
		commentRecord{firstIssue, one, other}, commentRecord{firstIssue, other, one},
		commentRecord{firstIssue + 1, comment(true), firstComment + 1})
	hierarchy, err := json.Marshal(records)
	if err != nil {
		panic(err) // integers always encode
	}
	return hierarchy, []byte(csv.String())
}
