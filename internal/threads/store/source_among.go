package store

import (
	"strings"

	"outrigger/internal/db"
)

// among is a condition that a column is one of ids, of which there are at most
// SourceSlice, and its arguments: the only ones of their query.
func among(d db.Dialect, column string, ids []int64) (string, []any) {
	if d == db.Postgres {
		return column + ` = ANY($1)`, []any{ids}
	}
	args := make([]any, SourceSlice)
	for i := range args {
		args[i] = ids[min(i, len(ids)-1)] // the last again and again: one text for every length
	}
	// Numbers SQLite would look up in a list one by one, which takes longer than
	// the statement where there are hundreds.
	return column + ` IN (?` + strings.Repeat(`, ?`, SourceSlice-1) + `)`, args
}
