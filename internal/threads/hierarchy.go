package threads

import "sort"

// Record says which comment another one answers. Only replies have one, and a
// comment has one at most.
type Record struct {
	IssueID         int64 `json:"issueId" doc:"The issue of the comment, by its id in the self-hosted instance."`
	CommentID       int64 `json:"commentId" doc:"The comment, by its id in the self-hosted instance."`
	ParentCommentID int64 `json:"parentCommentId" doc:"The comment that it answers."`
}

// ExportPage is one answer of the export endpoint.
type ExportPage struct {
	Offset     int64    `json:"offset" doc:"How many records come before the page."`
	Data       []Record `json:"data" doc:"The records of the page, by issue and comment."`
	HasMore    bool     `json:"hasMore" doc:"Whether further pages exist."`
	TotalCount int64    `json:"totalCount" doc:"Of all pages."`
}

// MaxListed is how many of the things that are wrong with a file are listed;
// all of them are counted. People look at the first few.
const MaxListed = 100

// Unreadable is a piece of a file that could not be read.
type Unreadable struct {
	Line   int64  `json:"line" doc:"The line of the file on which it begins, counted from 1."`
	Text   string `json:"text" doc:"Its beginning."`
	Reason string `json:"reason" doc:"Why it could not be read."`
}

// Reading is what any decoder says of its file.
type Reading struct {
	Unreadable int64        `json:"unreadable" doc:"Pieces of the file that could not be read."`
	Lines      []Unreadable `json:"lines,omitempty" doc:"The first hundred of them."`
	Truncated  bool         `json:"truncated" doc:"The file ends in the middle; its last piece was not used."`
}

// HierarchyReading is what a HierarchyDecoder has found so far.
type HierarchyReading struct {
	Reading
	Records int64 `json:"records" doc:"In the file, repeated ones included."`
	Roots   int64 `json:"roots" doc:"Entries without a parent, which are no records."`
	Loose   int64 `json:"loose" doc:"Records that are in no array or page, so that nothing tells whether the file is whole."`

	// Where the file is made of export pages:
	Pages       int64 `json:"pages" doc:"Export pages; 0 for an array of records."`
	PageRecords int64 `json:"pageRecords" doc:"Entries in the pages."`
	HasMore     bool  `json:"hasMore" doc:"What the last page says."`
	TotalCount  int64 `json:"totalCount" doc:"What the last page says."`
	Offset      int64 `json:"-"` // what the last one says, where it says any
	HasOffset   bool  `json:"-"`
}

// Partial reports whether the file holds some pages of an export and not all: the
// last one says that there is more, or they have less than the total. distinct
// is how many records there are when each comment is counted once: a page given
// twice does not stand for one that is missing.
func (r *HierarchyReading) Partial(distinct int64) bool {
	return r.Pages > 0 && (r.HasMore || r.PageRecords-(r.Records-distinct) < r.TotalCount)
}

// ImportCounts say what became of the records or mappings of an import.
type ImportCounts struct {
	Added     int64 `json:"added" doc:"Those that are new."`
	Replaced  int64 `json:"replaced" doc:"Those that had another parent, issue or cloud id."`
	Unchanged int64 `json:"unchanged" doc:"Those that were stored already."`
	Removed   int64 `json:"removed,omitempty" doc:"By a mirror: those that the source no longer has."`
}

// Add counts what o counts, too.
func (c *ImportCounts) Add(o ImportCounts) {
	c.Added += o.Added
	c.Replaced += o.Replaced
	c.Unchanged += o.Unchanged
	c.Removed += o.Removed
}

// UpToComment is how many of the records, ordered by comment, are up to a comment.
func UpToComment(records []Record, comment int64) int {
	return sort.Search(len(records), func(i int) bool { return records[i].CommentID > comment })
}
