package threads

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Chunks come back from their rows as they were, and what is no chunk is said
// to be none.
func TestChunkRow(t *testing.T) {
	reasons := append([]Reason{""}, Reasons()...)
	entry := rapid.Custom(func(t *rapid.T) Entry {
		id := rapid.Int64()
		return Entry{id.Draw(t, "comment"), id.Draw(t, "parent"), id.Draw(t, "cloud"), id.Draw(t, "cloud parent"), rapid.SampledFrom(reasons).Draw(t, "reason")}
	})
	issue := rapid.Custom(func(t *rapid.T) IssueEntries {
		return IssueEntries{
			rapid.Int64().Draw(t, "issue"), rapid.Int64().Draw(t, "cloud issue"), rapid.SliceOfN(entry, 1, 4).Draw(t, "entries"), rapid.Int64Min(0).Draw(t, "answer"),
		}
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
			if b := back.Issues[n]; b.IssueID != i.IssueID || b.CloudIssueID != i.CloudIssueID || b.Answer != i.Answer || !slices.Equal(b.Entries, i.Entries) {
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
	c.Add(IssueEntries{1, 2, []Entry{{3, 4, 5, 6, ""}, {7, 8, 0, 0, Cycle}}, 3})
	f.Add(c.Encode())
	f.Fuzz(func(_ *testing.T, row []byte) {
		_ = new(Chunk).Decode(row) // it neither panics nor takes memory without end
	})
}
