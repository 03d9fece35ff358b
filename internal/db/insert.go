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

// argsAtOnce is how many values one INSERT has on SQLite, about: with fewer the
// cost of a statement counts, with many more that of its arguments.
const argsAtOnce = 224

// Insert writes rows in their order. PostgreSQL gets one statement with an array
// a column, which takes it less than a statement a row in one round trip; SQLite
// statements of some rows, the rest in smaller ones, each of a quarter: there are
// a few to prepare, and not one for each number of rows. An error begins with what was
// being done, as that of Do.
func (tx *Tx) Insert(ctx context.Context, what string, in Insert) error {
	return doing(what, tx.insert(ctx, in))
}

func (tx *Tx) insert(ctx context.Context, in Insert) error {
	rows := columnLength(in.Columns[0])
	if err := tx.ready(); err != nil || rows == 0 {
		return err
	}
	if tx.dialect == Postgres {
		_, err := tx.Exec(ctx, `INSERT INTO `+in.Into+` SELECT rows.*`+in.constants()+
			` FROM unnest(`+arrays(in.Columns)+`) AS rows `+in.OnConflict, in.Columns...)
		return err
	}
	ctx = tx.context(ctx)
	done := 0
	for many := max(1, argsAtOnce/len(in.Columns)); done < rows; many = max(1, many/4) {
		n := (rows - done) / many
		if n == 0 {
			continue
		}
		if _, err := tx.ses.repeat(ctx, tx.ses.insert(&in, many), n, func(i int, to []driver.NamedValue) ([]driver.NamedValue, error) {
			return in.rows(done+i*many, many, to), nil
		}); err != nil {
			return tx.note(err)
		}
		done += n * many
	}
	return nil
}

// insertText is what the text of an Insert is made of.
type insertText struct {
	into, constants, onConflict string
	columns, rows               int
}

// insert is the text that inserts so many rows into SQLite, made once.
func (s *session) insert(in *Insert, rows int) string {
	of := insertText{in.Into, in.Constants, in.OnConflict, len(in.Columns), rows}
	text, made := s.inserts[of]
	if !made {
		text = in.values(rows)
		s.inserts[of] = text
	}
	return text
}

func (in *Insert) constants() string {
	if in.Constants == "" {
		return ""
	}
	return ", " + in.Constants
}

// values is that statement. Numbers SQLite would look up in a list one by one,
// which takes longer than the statement. FAIL leaves the rows before one that
// fails, which end with the transaction; to take them back by itself SQLite would
// set aside every page first.
func (in *Insert) values(rows int) string {
	row := `(?` + strings.Repeat(`, ?`, len(in.Columns)-1) + in.constants() + `)`
	return `INSERT OR FAIL INTO ` + in.Into + ` VALUES ` + row + strings.Repeat(`, `+row, rows-1) + ` ` + in.OnConflict
}

// rows appends the values of n rows from the first on. One that is the same as in
// the row before, as many are, needs no memory of its own.
func (in *Insert) rows(first, n int, to []driver.NamedValue) []driver.NamedValue {
	for row := first; row < first+n; row++ {
		for _, c := range in.Columns {
			var above driver.Value
			if row > first {
				above = to[len(to)-len(in.Columns)].Value
			}
			to = append(to, driver.NamedValue{Ordinal: len(to) + 1, Value: columnValue(c, row, above)})
		}
	}
	return to
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

func columnValue(column any, row int, above driver.Value) driver.Value {
	switch c := column.(type) {
	case []int64:
		if above != c[row] {
			return c[row]
		}
		return above
	case []string:
		if above != c[row] {
			return c[row]
		}
		return above
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
