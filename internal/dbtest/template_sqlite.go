package dbtest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"outrigger/internal/db"
)

// sqliteFile is the database in a data folder.
const sqliteFile = "outrigger.db"

// sqliteTemplates are the database files with each schema that this process has
// made, by the checksums of their migrations.
var sqliteTemplates struct {
	sync.Mutex
	files map[string][]byte
}

// SQLiteFile puts a database with the schema of sets into dir.
func SQLiteFile(t testing.TB, dir string, sets ...db.Migrations) {
	t.Helper()
	sqliteTemplates.Lock()
	defer sqliteTemplates.Unlock()
	name := checksum(t, sets)
	file, ok := sqliteTemplates.files[name]
	if !ok {
		file = makeSQLiteTemplate(t, sets)
		if sqliteTemplates.files == nil {
			sqliteTemplates.files = map[string][]byte{}
		}
		sqliteTemplates.files[name] = file
	}
	if err := os.WriteFile(filepath.Join(dir, sqliteFile), file, 0o600); err != nil {
		t.Fatal(err)
	}
}

func makeSQLiteTemplate(t testing.TB, sets []db.Migrations) []byte {
	t.Helper()
	dir := t.TempDir()
	d, err := db.Open(t.Context(), db.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Migrate(t.Context(), sets...)
	if closed := d.Close(); err == nil {
		err = closed // which moves the log into the file
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, sqliteFile))
	if err != nil {
		t.Fatal(err)
	}
	return file
}
