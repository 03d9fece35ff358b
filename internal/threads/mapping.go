package threads

// IDMapping is the id that an entity of the self-hosted instance got in the
// cloud.
type IDMapping struct {
	EntityType string // EntityIssue, EntityComment, or any other that the report has
	ServerID   int64
	CloudID    int64
}

// The entity types that threads need.
const (
	EntityIssue   = "jira:issue"
	EntityComment = "jira:comment"
)

// MappingHeader is the first line of the id mappings report, to the letter.
const MappingHeader = "entityType,serverId,cloudId"

// MappingReading is what a MappingDecoder has found so far.
type MappingReading struct {
	Reading
	Rows     int64 `json:"rows" doc:"In the file, repeated ids included."`
	Comments int64 `json:"comments" doc:"Those of them that are about comments."`
	Issues   int64 `json:"issues" doc:"Those that are about issues."`
	NoHeader bool  `json:"noHeader" doc:"The first line is a mapping; the columns were taken in the report's own order."`
}
