package db

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
)

// Insert says how values of T become rows of a table.
type Insert[T any] struct {
	Into    string // the table and its columns: "t (a, b, state)"
	Columns []Column[T]
	// Constants are the values of the columns behind these, as SQL: "'waiting', 0".
	Constants  string
	OnConflict string // what follows the values: "ON CONFLICT DO NOTHING"
}

// argsAtOnce is how many values one INSERT has on SQLite, about: with fewer the
// cost of a statement counts, with many more that of its arguments.
const argsAtOnce = 224

// Rows writes rows in their order. PostgreSQL gets one statement with an array
// a column, which takes it less than a statement a row in one round trip; SQLite
// statements of some rows, the rest in smaller ones, each of a quarter: there are
// a few to prepare, and not one for each number of rows. An error begins with what was
// being done, as that of Do.
func (in Insert[T]) Rows(ctx context.Context, tx *Tx, what string, rows []T) error {
	return doing(what, in.write(ctx, tx, rows))
}

func (in *Insert[T]) write(ctx context.Context, tx *Tx, rows []T) error {
	if err := tx.ready(); err != nil || len(rows) == 0 {
		return err
	}
	st := insertText{in.Into, in.Constants, in.OnConflict, len(in.Columns), 0}
	if st.constants != "" {
		st.constants = ", " + st.constants
	}
	if tx.dialect == Postgres {
		arrays, args := in.arrays(rows)
		_, err := tx.Exec(ctx, `INSERT INTO `+in.Into+` SELECT rows.*`+st.constants+` FROM unnest(`+arrays+`) AS rows `+in.OnConflict, args...)
		return err
	}
	ctx = tx.context(ctx)
	for st.rows = max(1, argsAtOnce/len(in.Columns)); len(rows) > 0; st.rows = max(1, st.rows/4) {
		n := len(rows) / st.rows
		if n == 0 {
			continue
		}
		if _, err := tx.ses.repeat(ctx, tx.ses.insert(st), n, func(i int, to []driver.NamedValue) ([]driver.NamedValue, error) {
			return in.values(rows[i*st.rows:][:st.rows], to), nil
		}); err != nil {
			return tx.note(err)
		}
		rows = rows[n*st.rows:]
	}
	return nil
}

// values appends the values of rows. One that is the same as in the row before, as
// many are, needs no memory of its own.
func (in *Insert[T]) values(rows []T, to []driver.NamedValue) []driver.NamedValue {
	for i, row := range rows {
		for _, c := range in.Columns {
			var above driver.Value
			if i > 0 {
				above = to[len(to)-len(in.Columns)].Value
			}
			to = append(to, driver.NamedValue{Ordinal: len(to) + 1, Value: c.value(row, above)})
		}
	}
	return to
}

// arrays returns the columns as arguments, and what they are: $1::bigint[],
// $2::text[] and so on.
func (in *Insert[T]) arrays(rows []T) (types string, args []any) {
	list := make([]string, len(in.Columns))
	for i, c := range in.Columns {
		list[i] = fmt.Sprintf("$%d::%s[]", i+1, c.kind)
		args = append(args, c.array(rows))
	}
	return strings.Join(list, ", "), args
}

// insertText is what the text of a statement on SQLite is made of.
type insertText struct {
	into, constants, onConflict string
	columns, rows               int
}

// insert is the text that inserts so many rows into SQLite, made once.
func (s *session) insert(of insertText) string {
	text, made := s.inserts[of]
	if !made {
		text = of.sql()
		s.inserts[of] = text
	}
	return text
}

// sql is that statement. Numbers SQLite would look up in a list one by one,
// which takes longer than the statement. FAIL leaves the rows before one that
// fails, which end with the transaction; to take them back by itself SQLite would
// set aside every page first.
func (t insertText) sql() string {
	row := `(?` + strings.Repeat(`, ?`, t.columns-1) + t.constants + `)`
	return `INSERT OR FAIL INTO ` + t.into + ` VALUES ` + row + strings.Repeat(`, `+row, t.rows-1) + ` ` + t.onConflict
}
