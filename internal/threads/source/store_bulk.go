package source

import (
	"context"
	"strconv"
	"strings"

	"outrigger/internal/db"
)

// rowsAtOnce is how many rows go into one INSERT on SQLite: past a hundred,
// what a statement costs no longer counts.
const rowsAtOnce = 250

// insert writes rows of numbers. On PostgreSQL they go as one array a column.
// On SQLite, as many as fit go in full statements and the others one by one:
// there are two statements to prepare, and not one for each number of rows.
func insert(ctx context.Context, tx *db.Tx, into, onConflict string, rows [][]int64) error {
	if len(rows) == 0 {
		return nil
	}
	columns := len(rows[0])
	if tx.Dialect() == db.Postgres {
		arrays := make([]any, columns)
		for c := range arrays {
			column := make([]int64, len(rows))
			for i, row := range rows {
				column[i] = row[c]
			}
			arrays[c] = column
		}
		_, err := tx.Exec(ctx, into+` SELECT * FROM unnest(`+numbered(columns, `::bigint[]`)+`)`+onConflict, arrays...)
		return err
	}
	many := into + ` VALUES ` + marks(rowsAtOnce, columns) + onConflict
	for ; len(rows) >= rowsAtOnce; rows = rows[rowsAtOnce:] {
		if _, err := tx.Exec(ctx, many, flat(rows[:rowsAtOnce])...); err != nil {
			return err
		}
	}
	single := make([][]any, len(rows))
	for i := range rows {
		single[i] = flat(rows[i : i+1])
	}
	return tx.Each(ctx, into+` VALUES `+marks(1, columns)+onConflict, single, nil)
}

func flat(rows [][]int64) []any {
	args := make([]any, 0, len(rows)*len(rows[0]))
	for _, row := range rows {
		for _, n := range row {
			args = append(args, n)
		}
	}
	return args
}

// among is a condition that a column is one of ids, of which there are at most
// sliceSize, and its arguments: the only ones of their query.
func among(d db.Dialect, column string, ids []int64) (string, []any) {
	if d == db.Postgres {
		return column + ` = ANY($1)`, []any{ids}
	}
	args := make([]any, sliceSize)
	for i := range args {
		args[i] = ids[min(i, len(ids)-1)] // the last again and again: one text for every length
	}
	return column + ` IN ` + marks(1, sliceSize), args
}

// marks writes (?, ?), (?, ?) … for SQLite. With numbers it would look each up
// in a list, which takes longer than the statement where there are hundreds.
func marks(rows, columns int) string {
	row := `(?` + strings.Repeat(`, ?`, columns-1) + `)`
	return row + strings.Repeat(`, `+row, rows-1)
}

// numbered writes $1, $2 … with a suffix each.
func numbered(n int, suffix string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(i+1) + suffix)
	}
	return b.String()
}
