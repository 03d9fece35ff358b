package threads

import (
	"bufio"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// thread is what a client reads.
type thread struct {
	CommentID string   `json:"commentId"`
	Replies   []thread `json:"replies"`
}

func written(m ParentMap) string {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	NewTree(m).Write(w)
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}

// Whatever a map says, its trees hold every comment once, each below its
// parent; only the lowest comment of a cycle has none there. Siblings are in
// order, and the list of the page is the same in the same order.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.Int64Range(1, 12)
		var relations []Relation
		for range rapid.IntRange(0, 14).Draw(t, "relations") {
			relations = append(relations, Relation{CommentID: ids.Draw(t, "comment"), ParentID: ids.Draw(t, "parent")})
		}
		m := NewParentMap(relations)
		var trees []thread
		if err := json.Unmarshal([]byte(written(m)), &trees); err != nil {
			t.Fatal(err)
		}
		var want, got []int64
		for _, r := range m {
			want = append(want, r.CommentID, r.ParentID)
		}
		var rows []TreeRow
		var walk func(list []thread, parent int64, depth int)
		walk = func(list []thread, parent int64, depth int) {
			last := int64(0)
			for _, th := range list {
				id, err := strconv.ParseInt(th.CommentID, 10, 64)
				if err != nil || id <= last {
					t.Fatalf("%q after %d: %v", th.CommentID, last, err)
				}
				last = id
				got = append(got, id)
				rows = append(rows, TreeRow{id, parent, depth, min(depth, maxIndent)})
				if p, has := m.Parent(id); has && p != parent && !(parent == 0 && id == lowestOfCycle(m, id)) || !has && parent != 0 {
					t.Fatalf("%d is below %d, its parent is %d", id, parent, p)
				}
				walk(th.Replies, id, depth+1)
			}
		}
		walk(trees, 0, 0)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(rows, NewTree(m).Rows(1000)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// lowestOfCycle is the lowest comment of the cycle that a comment is on; 0 where
// it is on none.
func lowestOfCycle(m ParentMap, id int64) int64 {
	lowest := id
	for at, n := id, 0; n <= len(m); n++ {
		p, ok := m.Parent(at)
		if !ok {
			return 0
		}
		if p == id {
			return lowest
		}
		at, lowest = p, min(lowest, p)
	}
	return 0
}

// A thread as deep as an issue can have it, and one as wide, take no stack and
// no time that grows with the square of their size.
func TestTreeDeepAndWide(t *testing.T) {
	const n = 200_000
	deep, wide := make(ParentMap, n), make(ParentMap, n)
	for i := range int64(n) {
		deep[i], wide[i] = Relation{CommentID: i + 2, ParentID: i + 1}, Relation{CommentID: i + 2, ParentID: 1}
	}
	if text := written(deep); strings.Count(text, "{") != n+1 || !strings.HasSuffix(text, strings.Repeat("]}", n+1)+"]") {
		t.Error("the deep thread is not whole")
	}
	if text := written(wide); strings.Count(text, "{") != n+1 || !strings.HasSuffix(text, `"replies":[]}]}]`) {
		t.Error("the wide thread is not whole")
	}
	slices.Reverse(deep) // cycles and chains are walked from any end
	if rows := NewTree(deep).Rows(20); len(rows) != 20 || rows[19].Depth != 19 || rows[19].Indent != maxIndent {
		t.Errorf("the rows of the deep thread: %v", rows)
	}
}
