package db

import "strings"

// MostIDs is how many ids From takes at most.
const MostIDs = 256

// From is a table ids(column) of ids, of which there are 1 to MostIDs, for a join,
// and its arguments: the only ones of their query. A join makes PostgreSQL look
// each one up in an index, where it would read a whole table that it has no
// statistics of yet to find those that are = ANY of a list.
func From(tx *Tx, column string, ids []int64) (string, []any) {
	if tx.dialect == Postgres {
		return `unnest($1::bigint[]) AS ids(` + column + `)`, []any{ids}
	}
	args := make([]any, MostIDs)
	for i := range ids {
		args[i] = ids[i] // NULL for the rest: one text for every length
	}
	// Numbers SQLite would look up in a list one by one, which takes longer than
	// the statement where there are hundreds.
	return `(SELECT column1 AS ` + column + ` FROM (VALUES (?)` + strings.Repeat(`, (?)`, MostIDs-1) + `)) AS ids`, args
}
