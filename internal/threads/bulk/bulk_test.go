package bulk

import (
	"context"
	"slices"
	"testing"
	"testing/fstest"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

var table = db.Migrations{Name: "bulk", FS: fstest.MapFS{
	"migrations/sqlite/0001_t.sql":   {Data: []byte(`CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL, c BLOB NOT NULL) STRICT`)},
	"migrations/postgres/0001_t.sql": {Data: []byte(`CREATE TABLE t (a BIGINT PRIMARY KEY, b TEXT NOT NULL, c BYTEA NOT NULL)`)},
}}

// However many rows there are, all of them are written once, and found again.
func TestInsertAndFind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, n := range []int{0, 1, rowsAtOnce - 1, rowsAtOnce, 3*rowsAtOnce + 5} {
			var ids []int64
			var texts []string
			var blobs [][]byte
			for i := range n {
				ids, texts, blobs = append(ids, int64(i)*3), append(texts, string(rune('a'+i%26))), append(blobs, []byte{byte(i), 0})
			}
			ctx := t.Context()
			if err := d.Write(ctx, func(tx *db.Tx) error {
				if _, err := tx.Exec(ctx, `DELETE FROM t`); err != nil {
					return err
				}
				if err := Insert(ctx, tx, `INSERT INTO t (a, b, c)`, ``, ids, texts, blobs); err != nil {
					return err
				}
				return Insert(ctx, tx, `INSERT INTO t (a, b, c)`, ` ON CONFLICT (a) DO UPDATE SET b = excluded.b`, ids, texts, blobs)
			}); err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				continue
			}
			got, err := find(ctx, d, ids[:min(n, Most)])
			if err != nil || !slices.Equal(got, ids) {
				t.Errorf("of %d rows %v are found, %v", n, got, err)
			}
		}
	}, table)
}

func find(ctx context.Context, d *db.DB, ids []int64) (found []int64, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		from, args := From(tx, "id", ids)
		rows, err := tx.Query(ctx, `SELECT t.a FROM `+from+` JOIN t ON t.a = ids.id ORDER BY t.a`, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			found = append(found, id)
		}
		return rows.Err()
	})
	return found, err
}
