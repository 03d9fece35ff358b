package threads

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Entry is a record with what the id mappings say of it.
type Entry struct {
	CommentID, ParentCommentID int64
	CloudCommentID             int64 // 0 where Reason is set before processing
	CloudParentID              int64
	Reason                     Reason
}

// IssueEntries are the records of one issue, by comment id.
type IssueEntries struct {
	IssueID      int64
	CloudIssueID int64 // 0 where it has no mapping
	Entries      []Entry
	// Answer is the number of what the target said when it refused the issue, see
	// ErrorGroups; 0 where it did not.
	Answer int64
}

// Relations is the parent map that the records without an error make.
func (i IssueEntries) Relations() ParentMap {
	var list []Relation
	for _, e := range i.Entries {
		if e.Reason == "" {
			list = append(list, Relation{CommentID: e.CloudCommentID, ParentID: e.CloudParentID})
		}
	}
	return NewParentMap(list)
}

// Wanted is the parent map that the target should have for the issue: Relations,
// and those of records that the target refused.
func (i IssueEntries) Wanted() ParentMap {
	var list []Relation
	for _, e := range i.Entries {
		if e.Reason == "" || e.Reason.OfTarget() {
			list = append(list, Relation{CommentID: e.CloudCommentID, ParentID: e.CloudParentID})
		}
	}
	return NewParentMap(list)
}

// Chunk is a part of a data set: whole issues, in the order of their ids.
type Chunk struct {
	Number  int64 // from 0
	Records int64
	Errors  int64 // records with a reason
	Issues  []IssueEntries
}

// ChunkSize is how many records make a chunk full; its last issue may go
// beyond. It is what one commit of processing costs against what a crash
// repeats, and what people watch counting up.
const ChunkSize = 1000

// Add puts an issue into the chunk.
func (c *Chunk) Add(i IssueEntries) {
	c.Records += int64(len(i.Entries))
	for _, e := range i.Entries {
		if e.Reason != "" {
			c.Errors++
		}
	}
	c.Issues = append(c.Issues, i)
}

// Refuse sets the reason of the records of an issue that are no errors yet, and the
// number of what the target said.
func (c *Chunk) Refuse(issue int, reason Reason, answer int64) {
	entries := c.Issues[issue].Entries
	c.Issues[issue].Answer = answer
	for n := range entries {
		if entries[n].Reason == "" {
			entries[n].Reason = reason
			c.Errors++
		}
	}
}

// Readmit takes back what the target's refusal made of an issue's records.
func (c *Chunk) Readmit(issue int) {
	entries := c.Issues[issue].Entries
	c.Issues[issue].Answer = 0
	for n := range entries {
		if entries[n].Reason.OfTarget() {
			entries[n].Reason = ""
			c.Errors--
		}
	}
}

// RefuseComments sets, for the records of an issue that are about some comments, by
// their cloud ids in order, and no errors yet, a reason.
func (c *Chunk) RefuseComments(issue int, comments []int64, reason Reason) {
	entries := c.Issues[issue].Entries
	for n := range entries {
		if _, is := slices.BinarySearch(comments, entries[n].CloudCommentID); is && entries[n].Reason == "" {
			entries[n].Reason = reason
			c.Errors++
		}
	}
}

// Encode writes the issues as one row of a table keeps them: numbers as
// variable-length integers, each as its difference to a neighbour. Number,
// Records and Errors are columns beside it.
func (c *Chunk) Encode() []byte {
	b := binary.AppendUvarint(make([]byte, 0, 16*c.Records), uint64(len(c.Issues)))
	var last IssueEntries
	for _, i := range c.Issues {
		b = binary.AppendVarint(b, i.IssueID-last.IssueID)
		b = binary.AppendVarint(b, i.CloudIssueID-last.CloudIssueID)
		b = binary.AppendUvarint(b, uint64(i.Answer))
		b = binary.AppendUvarint(b, uint64(len(i.Entries)))
		last = i
		var before Entry
		for _, e := range i.Entries {
			b = append(b, byte(slices.Index(reasonCodes[:], e.Reason)))
			b = binary.AppendVarint(b, e.CommentID-before.CommentID)
			b = binary.AppendVarint(b, e.ParentCommentID-e.CommentID)
			b = binary.AppendVarint(b, e.CloudCommentID-before.CloudCommentID)
			b = binary.AppendVarint(b, e.CloudParentID-e.CloudCommentID)
			before = e
		}
	}
	return b
}

// reasonCodes are how reasons are stored; one keeps its place for ever.
var reasonCodes = [...]Reason{
	"", NoIssueMapping, NoCommentMapping, NoParentMapping, SelfParent, Cycle, OtherIssue, TargetNotFound, TargetForbidden, SameTarget,
	ChangedByOthers,
}

var errChunk = errors.New("a stored chunk cannot be read")

// Decode reads what Encode wrote into the chunk's Issues.
func (c *Chunk) Decode(b []byte) error {
	r := varints{b: b}
	issues := make([]IssueEntries, r.count())
	entries := make([]Entry, 0, c.Records)
	var last IssueEntries
	for n := range issues {
		i := &issues[n]
		i.IssueID = last.IssueID + r.signed()
		i.CloudIssueID = last.CloudIssueID + r.signed()
		i.Answer = r.unsigned()
		last = *i
		from := len(entries)
		var before Entry
		for range r.count() {
			e := Entry{Reason: r.reason()}
			e.CommentID = before.CommentID + r.signed()
			e.ParentCommentID = e.CommentID + r.signed()
			e.CloudCommentID = before.CloudCommentID + r.signed()
			e.CloudParentID = e.CloudCommentID + r.signed()
			before = e
			entries = append(entries, e)
		}
		i.Entries = entries[from:len(entries):len(entries)]
	}
	if r.bad || len(r.b) > 0 {
		return errChunk
	}
	c.Issues = issues
	return nil
}

// varints reads numbers; bad is set when there is none.
type varints struct {
	b   []byte
	bad bool
}

func (v *varints) signed() int64 {
	x, n := binary.Varint(v.b)
	v.take(n)
	return x
}

func (v *varints) unsigned() int64 {
	x, n := binary.Uvarint(v.b)
	v.take(n)
	return int64(x)
}

// count reads a number of things that take a byte each at least.
func (v *varints) count() int {
	x, n := binary.Uvarint(v.b)
	v.take(n)
	if x > uint64(len(v.b)) {
		v.bad = true
		return 0
	}
	return int(x)
}

func (v *varints) reason() Reason {
	if len(v.b) == 0 || int(v.b[0]) >= len(reasonCodes) {
		v.take(0)
		return ""
	}
	r := reasonCodes[v.b[0]]
	v.take(1)
	return r
}

func (v *varints) take(n int) {
	if n <= 0 {
		v.bad, v.b = true, nil
		return
	}
	v.b = v.b[n:]
}
