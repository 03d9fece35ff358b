package threads

import "sort"

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
