package threads

// Preview is what will come of two files, before anything of them is written.
type Preview struct {
	Records  int64 `json:"records" doc:"Distinct ones: of the same comment twice, the last counts."`
	Issues   int64 `json:"issues" doc:"Issues that the records are in."`
	Comments int64 `json:"comments" doc:"Replies and parents."`

	CommentMappings int64 `json:"commentMappings" doc:"Distinct ids."`
	IssueMappings   int64 `json:"issueMappings" doc:"Distinct ids."`

	MissingComments Missing `json:"missingComments" doc:"Named by records and without a mapping."`
	MissingIssues   Missing `json:"missingIssues" doc:"Named by records and without a mapping."`

	DuplicateRecords  int64 `json:"duplicateRecords" doc:"Records of a comment that comes again later in the file."`
	DuplicateMappings int64 `json:"duplicateMappings" doc:"Mappings of an id that comes again later in the file."`

	SelfParents int64 `json:"selfParents" doc:"Comments that are their own parent."`
	Cycles      int64 `json:"cycles" doc:"Records whose parents lead back to them."`
	OtherIssue  int64 `json:"otherIssue" doc:"Records whose parent is in another issue."`

	Errors      map[Reason]int64 `json:"errors" doc:"The permanent errors to come by reason, but for those that only the target knows."`
	TotalErrors int64            `json:"totalErrors" doc:"The sum of errors."`

	Hierarchy HierarchyReading `json:"hierarchy" doc:"What the hierarchy file holds."`
	Mappings  MappingReading   `json:"mappings" doc:"What the id mappings report holds."`
	Partial   bool             `json:"partial" doc:"The hierarchy file has some pages of an export and not all of them."`

	Incomplete []string `json:"incomplete,omitempty"`
}

// MemberWords are those too long for a tag.
func (Preview) MemberWords() map[string]string {
	return map[string]string{
		"incomplete": "What is wrong with the files, a sentence each; where there is any, they are loaded only with `acceptIncomplete`.",
	}
}

// Previewed is what will come of two files, which these are, and the sites.
type Previewed struct {
	Preview
	Drafts Drafts `json:"drafts" doc:"The two files."`
	Sites  Sites  `json:"sites" doc:"The cloud site that the id mappings report is for, as Upload-Metadata said, and the target."`
}

// Missing counts ids and lists the lowest MaxListed of them.
type Missing struct {
	Count int64   `json:"count" doc:"How many ids have no mapping."`
	First []int64 `json:"first" doc:"The lowest hundred."`
}
