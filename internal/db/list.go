package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// List runs a query and returns what scan makes of each of its rows, in their
// order; nil when there are none. An error begins with what was being done, as
// in "reading tokens". scan runs no statements.
func List[T any](ctx context.Context, tx *Tx, what string, scan func(row Row) (T, error), q string, args ...any) ([]T, error) {
	var list []T
	err := tx.EachRow(ctx, what, func(row Row) error {
		one, err := scan(row)
		list = append(list, one)
		return err
	}, q, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// One returns what scan makes of the row that a query has, or none where there is no row.
func One[T any](ctx context.Context, tx *Tx, none error, scan func(row Row) (T, error), q string, args ...any) (T, error) {
	one, err := scan(tx.QueryRow(ctx, q, args...))
	if errors.Is(err, sql.ErrNoRows) {
		err = none
	}
	return one, err
}

// Map returns the rows of a query of two columns, a key and its value; never nil. An
// error is as that of List.
func Map[K comparable, V any](ctx context.Context, tx *Tx, what, q string, args ...any) (map[K]V, error) {
	all := make(map[K]V)
	return all, tx.EachRow(ctx, what, func(row Row) error {
		var key K
		var value V
		err := row.Scan(&key, &value)
		all[key] = value
		return err
	}, q, args...)
}

// Value is a scan of List for rows of one column.
func Value[T any](row Row) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// EachRow is List without a list: it calls scan for each row, until there is an
// error.
func (tx *Tx) EachRow(ctx context.Context, what string, scan func(row Row) error, q string, args ...any) error {
	rows, err := tx.Query(ctx, q, args...)
	if err != nil {
		return doing(what, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return doing(what, err)
		}
	}
	return doing(what, rows.Err())
}

// CountTo counts the rows of a query, to most.
func CountTo(ctx context.Context, tx *Tx, most int, q string, args ...any) (n int, err error) {
	err = tx.Get(ctx, "counting", []any{&n}, fmt.Sprintf(`SELECT count(*) FROM (%s LIMIT %d) counted`, q, most), args...)
	return n, err
}

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
