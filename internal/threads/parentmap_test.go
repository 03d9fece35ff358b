package threads

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func relationsOf(m ParentMap) map[int64]int64 {
	list := map[int64]int64{}
	for _, r := range m {
		list[r.CommentID] = r.ParentID
	}
	return list
}

// A parent map is a map: the last of each comment, in order, and merging puts
// one over the other.
func TestParentMap(t *testing.T) {
	relation := rapid.Custom(func(t *rapid.T) Relation {
		return Relation{rapid.OneOf(rapid.Int64Range(1, 9), rapid.Int64()).Draw(t, "comment"), rapid.Int64().Draw(t, "parent")}
	})
	rapid.Check(t, func(t *rapid.T) {
		one, two := rapid.SliceOf(relation).Draw(t, "one"), rapid.SliceOf(relation).Draw(t, "two")
		want := relationsOf(one)
		a := NewParentMap(one)
		if got := relationsOf(a); !maps.Equal(got, want) || len(a) != len(want) {
			t.Fatal(a)
		}
		b := NewParentMap(two)
		maps.Copy(want, relationsOf(two))
		merged := a.Merge(b)
		if got := relationsOf(merged); !maps.Equal(got, want) || len(merged) != len(want) {
			t.Fatal(merged)
		}
		if !slices.IsSortedFunc(merged, func(a, b Relation) int { return cmp.Compare(a.CommentID, b.CommentID) }) {
			t.Fatal("not in order: ", merged)
		}
		for comment, parent := range want {
			if got, ok := merged.Parent(comment); !ok || got != parent {
				t.Fatal(comment, got, ok)
			}
		}
		text := merged.AppendJSON(nil)
		back, err := ParseParentMap(text)
		if err != nil || !slices.Equal(back, merged) {
			t.Fatal(string(text), back, err)
		}
	})
}

// Whatever encoding/json takes as such a map is read, and as it reads it. Zeros
// in front of a number are taken too.
func FuzzParseParentMap(f *testing.F) {
	for _, text := range []string{`{}`, `{"11782":"11781"}`, `{"1":"2","3":"4"}`, `{"3":"4", "1":2}`, `{"1":"2",}`, `{"1":"9223372036854775808"}`, `{"-1":"-2"}`, `{"01":"2"}`, `null`, ``} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseParentMap([]byte(text))
		var plain map[string]json.Number
		want := map[int64]int64{}
		ambiguous := false
		wantErr := json.Unmarshal([]byte(text), &plain)
		for comment, parent := range plain {
			c, err := strconv.ParseInt(comment, 10, 64)
			p, err2 := strconv.ParseInt(parent.String(), 10, 64)
			if err != nil || err2 != nil {
				wantErr = strconv.ErrSyntax
			}
			_, twice := want[c]
			ambiguous = ambiguous || twice // such as 1 and 01
			want[c] = p
		}
		if wantErr == nil && err != nil || err == nil && !json.Valid([]byte(text)) {
			t.Fatalf("%s: %v, and encoding/json %v", text, err, wantErr)
		}
		if wantErr == nil && !ambiguous && !maps.Equal(relationsOf(m), want) {
			t.Errorf("%s is read as %v", text, m)
		}
	})
}
