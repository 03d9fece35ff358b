package threads

import "strconv"

// AppendJSON writes the record as the export endpoint does, to the byte.
func (r Record) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"issueId":`...), r.IssueID, 10)
	b = strconv.AppendInt(append(b, `,"commentId":`...), r.CommentID, 10)
	b = strconv.AppendInt(append(b, `,"parentCommentId":`...), r.ParentCommentID, 10)
	return append(b, '}')
}

// AppendCSV writes the mapping as a line of the id mappings report, its end
// included. The report has no quotes.
func (m IDMapping) AppendCSV(b []byte) []byte {
	b = append(append(b, m.EntityType...), ',')
	b = append(strconv.AppendInt(b, m.ServerID, 10), ',')
	return append(strconv.AppendInt(b, m.CloudID, 10), '\n')
}
