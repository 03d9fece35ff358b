package threads

// Preview is what will come of two files, before anything of them is written.
type Preview struct {
	Records  int64 `json:"records"`  // distinct ones: the last of each comment
	Issues   int64 `json:"issues"`   // that they are in
	Comments int64 `json:"comments"` // that they name, replies and parents

	CommentMappings int64 `json:"commentMappings"` // distinct ids
	IssueMappings   int64 `json:"issueMappings"`

	MissingComments Missing `json:"missingComments"` // named and without a mapping
	MissingIssues   Missing `json:"missingIssues"`

	DuplicateRecords  int64 `json:"duplicateRecords"`  // of a comment that came again later
	DuplicateMappings int64 `json:"duplicateMappings"` // of an id that came again later

	SelfParents int64 `json:"selfParents"` // records, whatever else is wrong with them
	Cycles      int64 `json:"cycles"`      // records that are part of one
	OtherIssue  int64 `json:"otherIssue"`  // records whose parent is in another issue

	// Errors are the permanent errors that processing will report, by reason,
	// but for those that only the target knows.
	Errors      map[Reason]int64 `json:"errors"`
	TotalErrors int64            `json:"totalErrors"`

	Hierarchy HierarchyReading `json:"hierarchy"`
	Mappings  MappingReading   `json:"mappings"`
	Partial   bool             `json:"partial"` // see HierarchyReading.Partial

	// Incomplete says what is wrong with the files themselves, a sentence each.
	// Where there is any, they are loaded only when that was accepted.
	Incomplete []string `json:"incomplete,omitempty"`
}

// Missing counts ids and lists the lowest MaxListed of them.
type Missing struct {
	Count int64   `json:"count"`
	First []int64 `json:"first"`
}
