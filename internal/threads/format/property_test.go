package format

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// anyJSON draws a valid value that has what hierarchy files have, in every
// wrong place too.
func anyJSON(t *rapid.T, depth int) string {
	kinds := []string{"number", "text", "literal", "record", "record", "object", "array"}
	if depth > 3 {
		kinds = kinds[:4]
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "number":
		return rapid.SampledFrom([]string{"0", "-0", "1", "10502", "9007199254740993", "9223372036854775807", "9223372036854775808", "1.0", "2e3", "-7"}).Draw(t, "number")
	case "text":
		b, _ := json.Marshal(rapid.SampledFrom([]string{"", "1", " 12 ", "-3", "x", "é🛶\u2028", `"]}`, "1e2", strings.Repeat("0", 70) + "1"}).Draw(t, "text"))
		return string(b)
	case "literal":
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "literal")
	case "record":
		id := rapid.Int64()
		return fmt.Sprintf(`{"issueId":%d,"commentId":%d,"parentCommentId":%d}`, id.Draw(t, "issue"), id.Draw(t, "comment"), id.Draw(t, "parent"))
	case "array":
		return "[" + strings.Join(values(t, depth), space(t)+","+space(t)) + "]"
	}
	var members []string
	for _, v := range values(t, depth) {
		name := rapid.SampledFrom([]string{
			"issueId", "commentId", "parentCommentId", "IssueID", "commentid", `issue\u0049d`, "data", "Data", "hasMore", "totalCount", "offset", "x", "dat\u0251",
		}).Draw(t, "name")
		members = append(members, `"`+name+`"`+space(t)+":"+space(t)+v)
	}
	return "{" + space(t) + strings.Join(members, ",") + "}"
}

func values(t *rapid.T, depth int) []string {
	list := make([]string, rapid.IntRange(0, 4).Draw(t, "length"))
	for i := range list {
		list[i] = anyJSON(t, depth+1)
	}
	return list
}

func space(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", " ", "\n", "\r\n\t"}).Draw(t, "space")
}

// For any valid file both decoders read the same records and count the same
// of everything else, through any window.
func TestHierarchyAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		for range rapid.IntRange(1, 3).Draw(t, "values") {
			v := anyJSON(t, 0)
			if v[0] != '[' && v[0] != '{' {
				v = "[" + v + "]"
			}
			file.WriteString(v + space(t))
		}
		records, bad, roots := reference([]byte(file.String()))
		for _, window := range []int{smallWindow, sourceSize} {
			got, reading, err := readHierarchy(strings.NewReader(file.String()), window)
			if diff := cmp.Diff(records, got); err != nil || diff != "" {
				t.Fatalf("%s\n%v %s", file.String(), err, diff)
			}
			if bad != reading.Unreadable || roots != reading.Roots || reading.Truncated {
				t.Fatalf("%s\n%d %d %+v", file.String(), bad, roots, reading)
			}
		}
	})
}
