package secret

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

// vault is a table of sealed values.
var vault = func() db.Migrations {
	files := fstest.MapFS{}
	for dialect, blob := range map[string]string{"sqlite": "BLOB", "postgres": "BYTEA"} {
		files["migrations/"+dialect+"/0001_vault.sql"] = &fstest.MapFile{Data: []byte(
			"CREATE TABLE vault (name TEXT PRIMARY KEY, sealed " + blob + ", lost INTEGER NOT NULL DEFAULT 0);")}
	}
	return db.Migrations{Name: "vault", FS: files}
}()

var vaultPlaces = []Place{{Table: "vault", Column: "sealed", Row: "name", Lost: "lost = 1, sealed = SUBSTR(sealed, 1, 0)"}}

// filled is a database with sealed values under a key, one of them empty and
// one absent.
func filled(t *testing.T, d *db.DB, key byte, n int) *Box {
	t.Helper()
	b, err := Open(t.Context(), d, keyOf(key), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(t.Context(), `INSERT INTO vault (name, sealed) VALUES ('absent', NULL), ('empty', $1)`, []byte{}); err != nil {
			return err
		}
		for i := range n {
			name := fmt.Sprintf("row %04d", i)
			if _, err := tx.Exec(t.Context(), `INSERT INTO vault (name, sealed) VALUES ($1, $2)`, name, b.Seal("plain "+name, "vault", "sealed", name)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// opened counts the values that a box opens as they were.
func opened(t *testing.T, d *db.DB, b *Box) (n int) {
	t.Helper()
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT name, sealed FROM vault WHERE sealed IS NOT NULL`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			var sealed []byte
			if err := rows.Scan(&name, &sealed); err != nil {
				return err
			}
			if plain, err := b.Unseal(sealed, "vault", "sealed", name); err == nil && plain == "plain "+name {
				n++
			}
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRotate(t *testing.T) {
	const n = 2*rotateAtOnce + 5
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		filled(t, d, 1, n)
		both, err := Open(t.Context(), d, keyOf(2), keyOf(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := opened(t, d, both); got != n {
			t.Errorf("before: %d of %d open", got, n)
		}
		// One value is of neither key, and stays so.
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE vault SET sealed = $1 WHERE name = 'row 0003'`, bytes.Repeat([]byte{7}, 40))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if sealed, lost, err := both.Rotate(t.Context(), d, vaultPlaces); sealed != n || lost != 1 || err != nil { // with the canary
			t.Errorf("rotated %d, lost %d: %v", sealed, lost, err)
		}
		if sealed, lost, err := both.Rotate(t.Context(), d, vaultPlaces); sealed != 0 || lost != 1 || err != nil {
			t.Errorf("again: rotated %d, lost %d: %v", sealed, lost, err)
		}
		alone, err := Open(t.Context(), d, keyOf(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := opened(t, d, alone); got != n-1 {
			t.Errorf("after: %d of %d open with the new key alone", got, n-1)
		}
		if _, err := Open(t.Context(), d, keyOf(1), nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("the old key: %v", err)
		}
	}, Migrations, vault)
}

func TestForget(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		filled(t, d, 1, 3)
		if lost, err := Forget(t.Context(), d, keyOf(2), vaultPlaces); lost != 3 || err != nil {
			t.Errorf("lost %d: %v", lost, err)
		}
		b, err := Open(t.Context(), d, keyOf(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := opened(t, d, b); got != 0 {
			t.Errorf("%d values open", got)
		}
		var marked int
		if err := d.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM vault WHERE lost = 1 AND LENGTH(sealed) = 0`).Scan(&marked)
		}); err != nil || marked != 3 {
			t.Errorf("%d rows say that they lost something: %v", marked, err)
		}
	}, Migrations, vault)
}

// A rotation of the key file can be interrupted after any of its steps.
func TestNewKeyFile(t *testing.T) {
	dir := t.TempDir()
	path, previous := filepath.Join(dir, keyFile), filepath.Join(dir, previousFile)
	if err := generateKey(dir, path); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, previous); err != nil { // killed after the first step
		t.Fatal(err)
	}
	if err := NewKeyFile(dir); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(path)
	if err != nil || bytes.Equal(now, first) {
		t.Errorf("the key is the same: %v", err)
	}
	if kept, err := os.ReadFile(previous); err != nil || !bytes.Equal(kept, first) {
		t.Errorf("the previous key is not kept: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := NewKeyFile(dir); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), previousFile) {
		t.Errorf("over a previous key: %v", err)
	}
	loaded, err := LoadPrevious(Value{}, dir)
	if want, _ := parseKey(string(first)); err != nil || !bytes.Equal(loaded, want) {
		t.Errorf("loaded: %v", err)
	}
	if none, err := LoadPrevious(Value{}, t.TempDir()); none != nil || err != nil {
		t.Errorf("none: %v, %v", none, err)
	}
}
