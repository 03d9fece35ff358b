package db_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

func TestWriteStoresAllOrNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		must(t, d.Write(ctx, func(tx *db.Tx) error { return insert(ctx, tx, "a") }))

		refused := errors.New("refused")
		err := d.Write(ctx, func(tx *db.Tx) error {
			must(t, insert(ctx, tx, "b"))
			return refused
		})
		if !errors.Is(err, refused) {
			t.Errorf("the error is %v", err)
		}
		err = d.Write(ctx, func(tx *db.Tx) error {
			must(t, insert(ctx, tx, "c"))
			panic("a bug")
		})
		if err == nil || !strings.Contains(err.Error(), "a bug") || !fault.Is(err, fault.Internal) {
			t.Errorf("a panic became %v", err)
		}
		wantNames(t, d, "a")
	})
}

// PostgreSQL runs nothing after a statement failed, so SQLite must not.
func TestAStatementThatFailsEndsItsTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		var second, third error
		err := d.Write(ctx, func(tx *db.Tx) error {
			must(t, insert(ctx, tx, "a"))
			if !db.IsUnique(insert(ctx, tx, "a")) {
				t.Error("the second a is no unique violation")
			}
			second = insert(ctx, tx, "b")
			third = tx.QueryRow(ctx, `SELECT 1`).Scan(new(int))
			return nil
		})
		if second == nil || third == nil {
			t.Errorf("statements ran after the failed one: %v, %v", second, third)
		}
		if !db.IsUnique(err) {
			t.Errorf("Write returned %v", err)
		}
		wantNames(t, d)
	})
}

func TestConstraints(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		for _, c := range []struct {
			q      string
			unique bool
		}{
			{`INSERT INTO things (id, name) VALUES (1, 'a'), (2, 'a')`, true},
			{`INSERT INTO things (id, name) VALUES (1, 'a'), (1, 'b')`, true},
			{`INSERT INTO things (name, n) VALUES ('a', -1)`, false},
			{`INSERT INTO things (name) VALUES (NULL)`, false},
			{`INSERT INTO parts (thing, name) VALUES (77, 'a')`, false},
			{`INSERT INTO nothing (name) VALUES ('a')`, false},
		} {
			err := d.Write(ctx, func(tx *db.Tx) error {
				_, err := tx.Exec(ctx, c.q)
				return err
			})
			if err == nil || db.IsUnique(err) != c.unique || !fault.Is(err, fault.Internal) {
				t.Errorf("%s: %v", c.q, err)
			}
			err = d.Write(ctx, func(tx *db.Tx) error {
				return tx.QueryRow(ctx, c.q+` RETURNING name`).Scan(new(string))
			})
			if err == nil || db.IsUnique(err) != c.unique {
				t.Errorf("%s RETURNING: %v", c.q, err)
			}
		}
		if db.IsUnique(nil) || db.IsUnique(sql.ErrNoRows) {
			t.Error("no violation, but IsUnique")
		}
	})
}

func TestReadSeesOneStateAndWritesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		count := func(tx *db.Tx) (n int) {
			must(t, tx.QueryRow(ctx, `SELECT count(*) FROM things`).Scan(&n))
			return n
		}
		must(t, d.Read(ctx, func(tx *db.Tx) error {
			before := count(tx)
			must(t, d.Write(ctx, func(tx *db.Tx) error { return insert(ctx, tx, "a") }))
			if after := count(tx); after != before {
				t.Errorf("a Read saw %d things, then %d", before, after)
			}
			return nil
		}))
		wantNames(t, d, "a")
		if err := d.Read(ctx, func(tx *db.Tx) error { return insert(ctx, tx, "b") }); err == nil {
			t.Error("a Read wrote")
		}
		wantNames(t, d, "a")
	})
}

func TestRowsAreClosedBeforeTheNextStatement(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		must(t, d.Write(ctx, func(tx *db.Tx) error { return errors.Join(insert(ctx, tx, "a"), insert(ctx, tx, "b")) }))
		err := d.Write(ctx, func(tx *db.Tx) error {
			rows, err := tx.Query(ctx, `SELECT name FROM things`)
			must(t, err)
			defer rows.Close()
			rows.Next()
			return insert(ctx, tx, "c")
		})
		if err == nil {
			t.Error("a statement ran while rows were open")
		}
		err = d.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Query(ctx, `SELECT name FROM things`)
			return err
		})
		if err == nil {
			t.Error("rows were left open at the end")
		}
		must(t, d.Write(ctx, func(tx *db.Tx) error {
			rows, err := tx.Query(ctx, `SELECT name FROM things`)
			must(t, err)
			for rows.Next() { // closes them at the end
			}
			return insert(ctx, tx, "d")
		}))
		wantNames(t, d, "a", "b", "d")
	})
}

func TestAfterCommit(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		var ran []string
		must(t, d.Write(ctx, func(tx *db.Tx) error {
			tx.AfterCommit(func() { ran = append(ran, strings.Join(names(t, d), " ")) })
			return insert(ctx, tx, "a")
		}))
		d.Write(ctx, func(tx *db.Tx) error {
			tx.AfterCommit(func() { ran = append(ran, "of a transaction that failed") })
			return errors.New("refused")
		})
		if len(ran) != 1 || ran[0] != "a" {
			t.Errorf("after the commits ran %q", ran)
		}
	})
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		big := bytes.Repeat([]byte{0, 1, 255}, 1<<20)
		for _, body := range [][]byte{nil, {}, {0}, big} {
			name := "ä€𝄞 '\"\\ $1 ?"
			var id, n int64
			var gotName string
			var gotBody []byte
			var isNull bool
			must(t, d.Write(ctx, func(tx *db.Tx) error {
				if _, err := tx.Exec(ctx, `DELETE FROM things`); err != nil {
					return err
				}
				// Not in order.
				return tx.QueryRow(ctx, `INSERT INTO things (body, name, n) VALUES ($3, $2, $1) RETURNING id`, int64(1)<<60, name, body).Scan(&id)
			}))
			must(t, d.Read(ctx, func(tx *db.Tx) error {
				return tx.QueryRow(ctx, `SELECT name, n, body, CASE WHEN body IS NULL THEN 1 ELSE 0 END FROM things WHERE id = $1`, id).
					Scan(&gotName, &n, &gotBody, &isNull)
			}))
			if gotName != name || n != int64(1)<<60 || !bytes.Equal(gotBody, body) || isNull != (body == nil) {
				t.Errorf("%d bytes, null %v came back as %q, %d, %d bytes, null %v", len(body), body == nil, gotName, n, len(gotBody), isNull)
			}
		}
		err := d.Read(ctx, func(tx *db.Tx) error {
			return tx.QueryRow(ctx, `SELECT name FROM things WHERE name = $1`, "nobody").Scan(new(string))
		})
		if !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("no row gives %v", err)
		}
	})
}

func TestTextIsComparedByBytes(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		must(t, d.Write(ctx, func(tx *db.Tx) error {
			return tx.Each(ctx, "inserting", `INSERT INTO things (name) VALUES ($1)`, [][]any{{"b"}, {"a-1"}, {"B"}, {"a1"}, {"ä"}, {"Z"}}, nil)
		}))
		wantNames(t, d, "B", "Z", "a-1", "a1", "b", "ä")
		var n int
		must(t, d.Read(ctx, func(tx *db.Tx) error {
			return tx.QueryRow(ctx, `SELECT count(*) FROM things WHERE name LIKE $1`, "b%").Scan(&n)
		}))
		if n != 1 {
			t.Errorf("LIKE found %d of b and B", n)
		}
	})
}

func TestEach(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		args := [][]any{{"a"}, {"b"}, {"c"}}
		ids := make([]int64, len(args))
		must(t, d.Write(ctx, func(tx *db.Tx) error {
			must(t, tx.Each(ctx, "doing nothing", `nothing is run`, nil, nil))
			return tx.Each(ctx, "inserting", `INSERT INTO things (name) VALUES ($1) RETURNING id`, args, func(i int, row db.Row) error { return row.Scan(&ids[i]) })
		}))
		if ids[0] == 0 || ids[1] <= ids[0] || ids[2] <= ids[1] {
			t.Errorf("the ids are %v", ids)
		}
		refused := errors.New("refused")
		err := d.Write(ctx, func(tx *db.Tx) error {
			return tx.Each(ctx, "updating", `UPDATE things SET n = 1 WHERE name = $1 RETURNING id`, args, func(i int, row db.Row) error {
				if i == 1 {
					return refused
				}
				return nil
			})
		})
		if !errors.Is(err, refused) {
			t.Errorf("what scan returned became %v", err)
		}
		for _, scan := range []func(int, db.Row) error{nil, func(int, db.Row) error { return nil }} {
			err = d.Write(ctx, func(tx *db.Tx) error {
				return tx.Each(ctx, "inserting", `INSERT INTO things (name) VALUES ($1)`, [][]any{{"d"}, {"a"}, {"e"}}, scan)
			})
			if !db.IsUnique(err) {
				t.Errorf("a row that is there already gives %v", err)
			}
		}
		wantNames(t, d, "a", "b", "c")
		must(t, d.Write(ctx, func(tx *db.Tx) error {
			missed, err := tx.ExecEach(ctx, `UPDATE things SET n = 1 WHERE name < $1`, [][]any{{"b"}, {"a"}, {"c"}})
			if !slices.Equal(missed, []int{1}) { // a, none, a and b
				t.Errorf("the runs %v changed no row, want the second alone", missed)
			}
			return err
		}))
	})
}

func TestOneNowPerTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		var first, second time.Time
		must(t, d.Write(ctx, func(tx *db.Tx) error {
			first = tx.Now()
			must(t, insert(ctx, tx, "a"))
			second = tx.Now()
			return nil
		}))
		if !first.Equal(second) || first.Location() != time.UTC || !db.Time(db.Micros(first)).Equal(first) {
			t.Errorf("now is %v, then %v", first, second)
		}
		later, err := d.Now(ctx)
		must(t, err)
		// The server's clock may be another machine's.
		if later.Before(first) || time.Until(later).Abs() > time.Minute {
			t.Errorf("the database's clock says %v after %v", later, first)
		}
	})
}

func TestMicros(t *testing.T) {
	if db.Micros(time.Time{}) != 0 || !db.Time(0).IsZero() {
		t.Error("the zero time is not 0")
	}
	at := time.Date(2026, 2, 3, 4, 5, 6, 789000, time.FixedZone("x", 3600))
	if got := db.Time(db.Micros(at)); !got.Equal(at) || got.Location() != time.UTC {
		t.Errorf("%v came back as %v", at, got)
	}
}

func TestAContextThatEndsStopsARead(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		err := d.Read(ctx, func(tx *db.Tx) error {
			cancel()
			return tx.QueryRow(ctx, `SELECT 1`).Scan(new(int))
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		must(t, d.Ping(t.Context())) // by a connection that is whole
		if err := d.Ping(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	})
}
