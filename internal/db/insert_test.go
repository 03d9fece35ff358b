package db_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

var bulkTable = db.Migrations{Name: "bulk", FS: fstest.MapFS{
	"migrations/sqlite/0001_t.sql":   {Data: []byte(`CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL, c BLOB, d TEXT, e TEXT NOT NULL, f INTEGER NOT NULL) STRICT`)},
	"migrations/postgres/0001_t.sql": {Data: []byte(`CREATE TABLE t (a BIGINT PRIMARY KEY, b TEXT NOT NULL, c BYTEA, d TEXT, e TEXT NOT NULL, f BIGINT NOT NULL)`)},
}}

// bulkRow is a row of t.
type bulkRow struct {
	id    int64
	text  string
	blob  []byte
	other *string
}

var insertBulk = db.Insert[bulkRow]{
	Into: `t (a, b, c, d, e, f)`,
	Columns: []db.Column[bulkRow]{
		db.Number(func(r bulkRow) int64 { return r.id }),
		db.Text(func(r bulkRow) string { return r.text }),
		db.Blob(func(r bulkRow) []byte { return r.blob }),
		db.TextOrNull(func(r bulkRow) *string { return r.other }),
	},
	Constants: `'it''s', 7`,
}

// bulkRows are n rows of t, of which some have no c and some no d.
func bulkRows(n int, b string) (rows []bulkRow, ids []int64, want []string) {
	for i := range n {
		other := fmt.Sprint("o", i)
		r := bulkRow{int64(i) * 3, b + fmt.Sprint(i/2), []byte{byte(i), 0}, &other}
		if i%3 == 1 {
			r.blob = nil
		}
		if i%3 == 2 {
			r.other, other = nil, "none"
		}
		rows, ids = append(rows, r), append(ids, r.id)
		want = append(want, fmt.Sprintf("%d %s %x %v %s 7 %s", r.id, r.text, r.blob, r.blob == nil, "it's", other))
	}
	return rows, ids, want
}

// However many rows there are, all of them are written once, as they were
// given, and found again by their ids.
func TestInsert(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, n := range []int{0, 1, 13, 14, 55, 56, 57, 3*56 + 2*14 + 3*3 + 2} {
			first, ids, _ := bulkRows(n, "first")
			then, _, want := bulkRows(n, "then")
			again := insertBulk
			again.OnConflict = `ON CONFLICT (a) DO UPDATE SET b = excluded.b`
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				if _, err := tx.Exec(t.Context(), `DELETE FROM t`); err != nil {
					return err
				}
				if err := insertBulk.Rows(t.Context(), tx, "inserting", first); err != nil {
					return err
				}
				return again.Rows(t.Context(), tx, "inserting", then)
			})
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				continue
			}
			got, err := findRows(t.Context(), d, ids[:min(n, db.MostIDs)])
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("of %d rows are found, %v\n%q\nwant\n%q", n, err, got, want)
			}
		}
	}, bulkTable)
}

// A row that cannot be written takes those before it with it.
func TestInsertFails(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		rows, ids, _ := bulkRows(60, "x")
		rows[58].id = 0
		if err := d.Write(t.Context(), func(tx *db.Tx) error { return insertBulk.Rows(t.Context(), tx, "inserting", rows) }); err == nil {
			t.Fatal("a key is there twice")
		}
		if got, err := findRows(t.Context(), d, ids); err != nil || len(got) > 0 {
			t.Errorf("%d rows are there, %v", len(got), err)
		}
	}, bulkTable)
}

func findRows(ctx context.Context, d *db.DB, ids []int64) (found []string, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		from, args := db.From(tx, "id", ids)
		rows, err := tx.Query(ctx, `SELECT t.a, t.b, t.c, coalesce(t.d, 'none'), t.e, t.f FROM `+from+` JOIN t ON t.a = ids.id ORDER BY t.a`, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var a, f int64
			var b, d, e string
			var c []byte
			if err := rows.Scan(&a, &b, &c, &d, &e, &f); err != nil {
				return err
			}
			found = append(found, fmt.Sprintf("%d %s %x %v %s %d %s", a, b, c, c == nil, e, f, d))
		}
		return rows.Err()
	})
	return found, err
}
