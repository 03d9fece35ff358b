package threads

// Record says which comment another one answers. Only replies have one, and a
// comment has one at most.
type Record struct {
	IssueID         int64 `json:"issueId"`
	CommentID       int64 `json:"commentId"`
	ParentCommentID int64 `json:"parentCommentId"`
}

// ExportPage is one answer of the export endpoint.
type ExportPage struct {
	Offset     int64    `json:"offset"`
	Data       []Record `json:"data"`
	HasMore    bool     `json:"hasMore"`
	TotalCount int64    `json:"totalCount"`
}

// MaxListed is how many of the things that are wrong with a file are listed;
// all of them are counted. People look at the first few.
const MaxListed = 100

// Unreadable is a piece of a file that could not be read.
type Unreadable struct {
	Line   int64  `json:"line"` // counted from 1, as editors do
	Text   string `json:"text"` // its beginning
	Reason string `json:"reason"`
}

// Reading is what any decoder says of its file.
type Reading struct {
	Unreadable int64        `json:"unreadable"`      // pieces that could not be read
	Lines      []Unreadable `json:"lines,omitempty"` // the first MaxListed of them
	Truncated  bool         `json:"truncated"`       // the file ends in the middle; its last piece was not used
}

// HierarchyReading is what a HierarchyDecoder has found so far.
type HierarchyReading struct {
	Reading
	Records int64 `json:"records"` // what Next gave, repeated comments included
	Roots   int64 `json:"roots"`   // entries without a parent: comments that answer none
	Loose   int64 `json:"loose"`   // records outside of any array or page: nothing tells whether the file is whole

	// Where the file is made of export pages:
	Pages       int64 `json:"pages"`
	PageRecords int64 `json:"pageRecords"` // entries in their data
	HasMore     bool  `json:"hasMore"`     // what the last one says
	TotalCount  int64 `json:"totalCount"`  // what the last one says
	Offset      int64 `json:"-"`           // what the last one says, where it says any
	HasOffset   bool  `json:"-"`
}

// Partial reports whether the file holds some pages of an export and not all: the
// last one says that there is more, or they have less than the total. distinct
// is how many records there are when each comment is counted once: a page given
// twice does not stand for one that is missing.
func (r *HierarchyReading) Partial(distinct int64) bool {
	return r.Pages > 0 && (r.HasMore || r.PageRecords-(r.Records-distinct) < r.TotalCount)
}
