package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// RestoreOptions say what to restore, and to where.
type RestoreOptions struct {
	Dir        string // the data folder, of which no process makes use
	File       string // what Make gave
	Now        time.Time
	Migrations []db.Migrations // of all parts
	// Prove refuses a database that this installation cannot use, such as one
	// of another key.
	Prove func(ctx context.Context, d *db.DB) error
}

// Restore puts a backup in the place of the database in a data folder, and
// holds back sending until Confirm. Where it fails, the folder is as it was.
// kept is the name in the folder that the database of before has now; "" where
// there was none.
//
// Errors: fault.Conflict where a process has the folder or the backup is of a
// newer program, fault.Invalid for a file that is no backup or a damaged one.
func Restore(ctx context.Context, o RestoreOptions) (kept string, err error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return "", fmt.Errorf("making the data folder: %w", err)
	}
	return db.Replace(o.Dir, o.Now, func(dir string) error {
		if err := copyFile(o.File, filepath.Join(dir, db.FileName)); err != nil {
			return err
		}
		d, err := db.Open(ctx, db.Options{Dir: dir})
		if err != nil {
			return damaged(o.File, err)
		}
		return errors.Join(o.adopt(ctx, d), d.Close())
	})
}

// adopt checks the copy, brings its schema up to date and marks it as restored.
func (o *RestoreOptions) adopt(ctx context.Context, d *db.DB) error {
	if err := check(ctx, d); err != nil {
		return damaged(o.File, err)
	}
	if err := d.Migrate(ctx, o.Migrations...); err != nil {
		return err
	}
	if err := o.Prove(ctx, d); err != nil {
		return err
	}
	return d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO backup_restored (id, file, restored_at, confirmed_by, confirmed_at) VALUES (1, $1, $2, '', 0)
			ON CONFLICT (id) DO UPDATE SET file = excluded.file, restored_at = excluded.restored_at, confirmed_by = '', confirmed_at = 0`,
			filepath.Base(o.File), db.Micros(o.Now))
		if err != nil {
			return fmt.Errorf("marking the database as restored: %w", err)
		}
		return nil
	})
}

// check has SQLite look over the whole file, and expects the schema of this
// program in it.
func check(ctx context.Context, d *db.DB) error {
	return d.Read(ctx, func(tx *db.Tx) error {
		var found string
		if err := tx.QueryRow(ctx, `SELECT group_concat(quick_check, '; ') FROM pragma_quick_check`).Scan(&found); err != nil {
			return err
		}
		if found != "ok" {
			return errors.New(found)
		}
		var tables int
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM sqlite_schema WHERE name IN ('schema_meta', 'secret_canary', 'audit_entries')`).Scan(&tables)
		if err == nil && tables != 3 {
			err = errors.New("it has no Outrigger tables")
		}
		return err
	})
}

func damaged(file string, why error) error {
	return fault.Wrap(why, fault.Invalid, "%s is not a complete Outrigger backup. Nothing was changed. Use a file that outrigger backup wrote.", file)
}

// header begins every SQLite database (https://sqlite.org/fileformat.html).
const header = "SQLite format 3\x00"

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("opening the backup: %w", err)
	}
	defer in.Close()
	start := make([]byte, len(header))
	if _, err := io.ReadFull(in, start); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("reading the backup: %w", err)
	}
	if string(start) != header { // or shorter
		return damaged(from, errors.New("it is not a SQLite database"))
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copying the backup: %w", err)
	}
	_, err = io.Copy(out, io.MultiReader(strings.NewReader(header), in))
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("copying the backup: %w", err)
	}
	return nil
}
