// Package bulk writes and finds many rows with few statements.
package bulk

import (
	"context"
	"fmt"
	"strings"

	"outrigger/internal/db"
)

const (
	// rowsAtOnce is how many rows go into one INSERT on SQLite: past some
	// dozens, what a statement costs no longer counts, and the rows that do not
	// fill one go one by one.
	rowsAtOnce = 64

	// Most is how many ids From takes at most.
	Most = 256
)

// Insert writes rows, given column by column: []int64, []string and [][]byte,
// all of one length. into is INSERT INTO t (a, b), onConflict what follows the
// values. On PostgreSQL the columns go as arrays.
func Insert(ctx context.Context, tx *db.Tx, into, onConflict string, columns ...any) error {
	rows := length(columns[0])
	if rows == 0 {
		return nil
	}
	if tx.Dialect() == db.Postgres {
		_, err := tx.Exec(ctx, into+` SELECT * FROM unnest(`+arrays(columns)+`)`+onConflict, columns...)
		return err
	}
	many, single := into+` VALUES `+marks(rowsAtOnce, len(columns))+onConflict, into+` VALUES `+marks(1, len(columns))+onConflict
	args := make([]any, 0, rowsAtOnce*len(columns))
	for at := 0; at < rows; {
		n, q := 1, single
		if rows-at >= rowsAtOnce {
			n, q = rowsAtOnce, many
		}
		args = args[:0]
		for r := at; r < at+n; r++ {
			for _, c := range columns {
				args = append(args, value(c, r))
			}
		}
		if _, err := tx.Exec(ctx, q, args...); err != nil {
			return err
		}
		at += n
	}
	return nil
}

func length(column any) int {
	switch c := column.(type) {
	case []int64:
		return len(c)
	case []string:
		return len(c)
	case [][]byte:
		return len(c)
	}
	panic(fmt.Sprintf("bulk: a column of type %T", column))
}

func value(column any, row int) any {
	switch c := column.(type) {
	case []int64:
		return c[row]
	case []string:
		return c[row]
	}
	return column.([][]byte)[row]
}

// arrays writes $1::bigint[], $2::text[] and so on.
func arrays(columns []any) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		kind := "bytea"
		switch c.(type) {
		case []int64:
			kind = "bigint"
		case []string:
			kind = "text"
		}
		list[i] = fmt.Sprintf("$%d::%s[]", i+1, kind)
	}
	return strings.Join(list, ", ")
}

// From is a table ids(column) of ids, of which there are 1 to Most, for a join,
// and its arguments: the only ones of their query. A join makes PostgreSQL look
// each one up in an index, where it would read a whole table that it has no
// statistics of yet to find those that are = ANY of a list.
func From(tx *db.Tx, column string, ids []int64) (string, []any) {
	if tx.Dialect() == db.Postgres {
		return `unnest($1::bigint[]) AS ids(` + column + `)`, []any{ids}
	}
	args := make([]any, Most)
	for i := range ids {
		args[i] = ids[i] // NULL for the rest: one text for every length
	}
	return `(SELECT column1 AS ` + column + ` FROM (VALUES ` + marks(Most, 1) + `)) AS ids`, args
}

// marks writes (?, ?), (?, ?) … for SQLite. Numbers it would look up in a list
// one by one, which takes longer than the statement where there are hundreds.
func marks(rows, columns int) string {
	row := `(?` + strings.Repeat(`, ?`, columns-1) + `)`
	return row + strings.Repeat(`, `+row, rows-1)
}
