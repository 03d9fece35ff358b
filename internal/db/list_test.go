package db_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
)

type numbered struct {
	name string
	n    int64
}

func scanNumbered(row db.Row) (th numbered, err error) {
	err = row.Scan(&th.name, &th.n)
	return th, err
}

// The rows come in the query's order, those alone that its arguments select, and
// the next statement of the transaction can run at once.
func TestList(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			if _, err := tx.Exec(t.Context(), `INSERT INTO things (name, n) VALUES ('a', 3), ('b', 1), ('c', 2), ('d', 9)`); err != nil {
				return err
			}
			list, err := db.List(t.Context(), tx, "listing things", scanNumbered, `SELECT name, n FROM things WHERE n < $1 ORDER BY n`, 9)
			if want := []numbered{{"b", 1}, {"c", 2}, {"a", 3}}; err != nil || !slices.Equal(list, want) {
				t.Errorf("the things are %v, %v, not %v", list, err, want)
			}
			names, err := db.List(t.Context(), tx, "listing names", db.Value[string], `SELECT name FROM things ORDER BY name DESC`)
			if want := []string{"d", "c", "b", "a"}; err != nil || !slices.Equal(names, want) {
				t.Errorf("the names are %q, %v, not %q", names, err, want)
			}
			none, err := db.List(t.Context(), tx, "listing things", scanNumbered, `SELECT name, n FROM things WHERE n > $1`, 9)
			if err != nil || none != nil {
				t.Errorf("nothing is %v, %v, not nil", none, err)
			}
			return insert(t.Context(), tx, "e")
		}))
		wantNames(t, d, "a", "b", "c", "d", "e")
	})
}

// An error of the query, of a row or of scan says what was being done, and no
// part of a list passes for the whole. After scan has failed, the transaction
// goes on.
func TestListFails(t *testing.T) {
	refused := errors.New("refused")
	onBoth(t, func(t *testing.T, d *db.DB) {
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO things (name, n) VALUES ('a', 3), ('b', 2), ('c', 1)`)
			return err
		}))
		seen := 0
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			list, err := db.List(t.Context(), tx, "listing things", func(row db.Row) (string, error) {
				if seen++; seen == 2 {
					return "b", refused
				}
				return "a", nil
			}, `SELECT name FROM things ORDER BY name`)
			if list != nil || !errors.Is(err, refused) || err.Error() != "listing things: refused" {
				t.Errorf("a row that is refused gives %q, %v", list, err)
			}
			return insert(t.Context(), tx, "d")
		}))
		if seen != 2 {
			t.Errorf("scan was called %d times, not until it failed at the second row", seen)
		}
		for _, q := range []string{
			`SELECT unknown FROM things`,                          // fails before any row
			`SELECT name, n FROM things`,                          // has a column too many
			`SELECT abs(n - 9223372036854775807 - 2) FROM things`, // overflows at the last row
		} {
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				list, err := db.List(t.Context(), tx, "listing things", db.Value[int64], q)
				if list != nil || err == nil || !strings.HasPrefix(err.Error(), "listing things: ") {
					t.Errorf("%s: %v, %v", q, list, err)
				}
				return err
			})
			if err == nil {
				t.Errorf("%s: the transaction ends without an error", q)
			}
		}
	})
}

// What a transaction returns comes with its error, and times are read as they were
// written.
func TestReadAndWriteReturn(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx, at := t.Context(), time.Date(2026, 11, 5, 7, 28, 1, 2000, time.UTC)
		n, err := db.Write(ctx, d, func(tx *db.Tx) (int64, error) {
			return tx.Exec(ctx, `INSERT INTO things (name, n) VALUES ('a', $1), ('b', $2)`, db.Micros(at), db.Micros(time.Time{}))
		})
		if n != 2 || err != nil {
			t.Fatalf("%d rows, %v", n, err)
		}
		times, err := db.ReadList(ctx, d, "reading times", func(row db.Row) (read time.Time, err error) {
			err = row.Scan(db.At(&read))
			return read, err
		}, `SELECT n FROM things ORDER BY name`)
		if want := []time.Time{at, {}}; err != nil || !slices.Equal(times, want) {
			t.Errorf("the times are %v, %v, not %v", times, err, want)
		}
		_, err = db.Read(ctx, d, func(tx *db.Tx) (read time.Time, err error) {
			return read, tx.QueryRow(ctx, `SELECT name FROM things WHERE name = 'a'`).Scan(db.At(&read))
		})
		if err == nil {
			t.Error("a name is read as a time")
		}
	})
}

func TestDoSaysWhatItDid(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Do(t.Context(), "adding a thing", `INSERT INTO things (name, n) VALUES ('a', $1)`, 1)
		}))
		err := d.Write(t.Context(), func(tx *db.Tx) error { return tx.Do(t.Context(), "adding a thing", `INSERT INTO nothing VALUES (1)`) })
		if err == nil || !strings.HasPrefix(err.Error(), "adding a thing: ") {
			t.Errorf("the error is %v", err)
		}
	})
}
