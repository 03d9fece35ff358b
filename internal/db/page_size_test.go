package db_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// A new database has pages of 8 KiB; one that is there keeps its own, and its log,
// its copies and its spare room are as large as with others.
func TestPageSizes(t *testing.T) {
	for _, test := range []struct{ made, size int }{{0, 8192}, {512, 512}, {4096, 4096}, {65536, 65536}} {
		t.Run(fmt.Sprint(test.made), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if test.made > 0 {
				made, err := sql.Open("sqlite", filepath.Join(dir, db.FileName))
				must(t, err)
				_, err = made.Exec(fmt.Sprintf(`PRAGMA page_size = %d; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA user_version = 1`, test.made))
				must(t, err)
				must(t, made.Close())
			}
			d := dbtest.Open(t, db.Options{Dir: dir})
			must(t, d.Migrate(t.Context(), things))
			must(t, d.BoundLog(t.Context(), 16<<20))
			most := 0
			for i := range 120 { // 30 MiB
				must(t, d.Write(t.Context(), func(tx *db.Tx) error {
					_, err := tx.Exec(t.Context(), `INSERT INTO things (name, body) VALUES ($1, $2)`, fmt.Sprint(i), make([]byte, 1<<18))
					return err
				}))
				most = max(most, logged(t, d))
			}
			if most < 15 || most > 30 {
				t.Errorf("the log had up to %d MiB", most)
			}
			var size int
			must(t, d.Read(t.Context(), func(tx *db.Tx) error {
				return tx.QueryRow(t.Context(), `PRAGMA page_size`).Scan(&size)
			}))
			if size != test.size {
				t.Errorf("pages of %d bytes, not %d", size, test.size)
			}
			expected, err := d.CopySize(t.Context())
			must(t, err)
			file := filepath.Join(t.TempDir(), "copy")
			must(t, d.Backup(t.Context(), file))
			info, err := os.Stat(file)
			must(t, err)
			if info.Size() > expected || info.Size() < expected*9/10 {
				t.Errorf("a copy of %d bytes, where %d were expected", info.Size(), expected)
			}
		})
	}
}
