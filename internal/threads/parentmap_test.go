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

// Chunks come back from their rows as they were, and what is no chunk is said
// to be none.
func TestChunkRow(t *testing.T) {
	reasons := append([]Reason{""}, Reasons()...)
	entry := rapid.Custom(func(t *rapid.T) Entry {
		id := rapid.Int64()
		return Entry{id.Draw(t, "comment"), id.Draw(t, "parent"), id.Draw(t, "cloud"), id.Draw(t, "cloud parent"), rapid.SampledFrom(reasons).Draw(t, "reason")}
	})
	issue := rapid.Custom(func(t *rapid.T) IssueEntries {
		return IssueEntries{rapid.Int64().Draw(t, "issue"), rapid.Int64().Draw(t, "cloud issue"), rapid.SliceOfN(entry, 1, 4).Draw(t, "entries")}
	})
	rapid.Check(t, func(t *rapid.T) {
		var c Chunk
		for _, i := range rapid.SliceOf(issue).Draw(t, "issues") {
			c.Add(i)
		}
		row := c.Encode()
		back := Chunk{Records: c.Records, Errors: c.Errors}
		if err := back.Decode(row); err != nil {
			t.Fatal(err)
		}
		if len(back.Issues) != len(c.Issues) {
			t.Fatal(back)
		}
		for n, i := range c.Issues {
			if b := back.Issues[n]; b.IssueID != i.IssueID || b.CloudIssueID != i.CloudIssueID || !slices.Equal(b.Entries, i.Entries) {
				t.Fatal(i, b)
			}
		}
		if err := back.Decode(row[:len(row)-1]); err == nil {
			t.Fatal("a row that is cut off is read")
		}
	})
}

func FuzzChunkRow(f *testing.F) {
	var c Chunk
	c.Add(IssueEntries{1, 2, []Entry{{3, 4, 5, 6, ""}, {7, 8, 0, 0, Cycle}}})
	f.Add(c.Encode())
	f.Fuzz(func(_ *testing.T, row []byte) {
		_ = new(Chunk).Decode(row) // it neither panics nor takes memory without end
	})
}
