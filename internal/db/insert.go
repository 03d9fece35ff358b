package db

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
)

// Insert is rows for a table, given column by column.
type Insert struct {
	Into string // the table and its columns: "t (a, b, state)"
	// Columns are as long as one another: []int64, []string, []*string or
	// [][]byte, of which nil is NULL.
	Columns []any
	// Constants are the values of the columns behind these, as SQL: "'waiting', 0".
	Constants  string
	OnConflict string // what follows the values: "ON CONFLICT DO NOTHING"
}

// Insert writes rows in their order. PostgreSQL gets one statement with an array
// a column, which takes it less than a statement a row in one round trip.
func (tx *Tx) Insert(ctx context.Context, in Insert) error {
	rows := columnLength(in.Columns[0])
	if err := tx.ready(); err != nil || rows == 0 {
		return err
	}
	constants := ""
	if in.Constants != "" {
		constants = ", " + in.Constants
	}
	if tx.dialect == Postgres {
		_, err := tx.Exec(ctx, `INSERT INTO `+in.Into+` SELECT rows.*`+constants+
			` FROM unnest(`+arrays(in.Columns)+`) AS rows `+in.OnConflict, in.Columns...)
		return err
	}
	marks := `?` + strings.Repeat(`, ?`, len(in.Columns)-1)
	q := `INSERT INTO ` + in.Into + ` VALUES (` + marks + constants + `) ` + in.OnConflict
	return tx.note(tx.ses.repeat(tx.context(ctx), q, rows, func(row int, args []driver.NamedValue) ([]driver.NamedValue, error) {
		for i, c := range in.Columns {
			args = append(args, driver.NamedValue{Ordinal: i + 1, Value: columnValue(c, row)})
		}
		return args, nil
	}))
}

func columnLength(column any) int {
	switch c := column.(type) {
	case []int64:
		return len(c)
	case []string:
		return len(c)
	case []*string:
		return len(c)
	case [][]byte:
		return len(c)
	}
	panic(fmt.Sprintf("db: a column of type %T", column))
}

func columnValue(column any, row int) driver.Value {
	switch c := column.(type) {
	case []int64:
		return c[row]
	case []string:
		return c[row]
	case []*string:
		if c[row] != nil {
			return *c[row]
		}
	case [][]byte:
		if c[row] != nil {
			return c[row]
		}
	}
	return nil
}

// arrays writes $1::bigint[], $2::text[] and so on.
func arrays(columns []any) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		kind := "text"
		switch c.(type) {
		case []int64:
			kind = "bigint"
		case [][]byte:
			kind = "bytea"
		}
		list[i] = fmt.Sprintf("$%d::%s[]", i+1, kind)
	}
	return strings.Join(list, ", ")
}
