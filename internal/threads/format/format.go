// Package format reads and writes the files of a migration: the hierarchy of
// comments (JSON), the id mappings report (CSV), backups, and what a file went
// through on its way here: gzip, zip, a byte order mark, UTF-16.
package format

import (
	"strconv"

	"outrigger/internal/threads"
)

// AppendRecord writes a record as the export endpoint does, to the byte.
func AppendRecord(b []byte, r threads.Record) []byte {
	b = strconv.AppendInt(append(b, `{"issueId":`...), r.IssueID, 10)
	b = strconv.AppendInt(append(b, `,"commentId":`...), r.CommentID, 10)
	b = strconv.AppendInt(append(b, `,"parentCommentId":`...), r.ParentCommentID, 10)
	return append(b, '}')
}

// AppendMapping writes a mapping as a line of the id mappings report, its end
// included. The report has no quotes.
func AppendMapping(b []byte, m threads.IDMapping) []byte {
	b = append(append(b, m.EntityType...), ',')
	b = append(strconv.AppendInt(b, m.ServerID, 10), ',')
	return append(strconv.AppendInt(b, m.CloudID, 10), '\n')
}
