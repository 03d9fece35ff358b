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

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
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

// Replaced is what became of the database that a backup was put in the place of.
type Replaced struct {
	Kept    string // its name in the data folder now; "": there was none
	Carried string // what was carried over from it; "": nothing could be
	Why     error  // nothing could be
}

// Restore puts a backup in the place of the database in a data folder, and
// holds back sending until Confirm. Where it fails, the folder is as it was. What
// ended since is carried over, where the database of before can be read; else tokens
// rest until Confirm.
//
// Errors: fault.Conflict where a process has the folder or the backup is of a
// newer program, fault.Invalid for a file that is no backup or a damaged one.
func Restore(ctx context.Context, o RestoreOptions) (r Replaced, err error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return r, fmt.Errorf("making the data folder: %w", err)
	}
	r.Kept, err = db.Replace(o.Dir, o.Now, func(dir string) error {
		if err := copyFile(o.File, filepath.Join(dir, db.FileName)); err != nil {
			return err
		}
		d, err := db.Open(ctx, db.Options{Dir: dir})
		if err != nil {
			return damaged(o.File, err)
		}
		if err = check(ctx, d); err != nil {
			err = damaged(o.File, err)
		}
		if err == nil {
			err = o.adopt(ctx, d)
		}
		if err == nil {
			r.Carried, r.Why, err = o.mark(ctx, d, filepath.Join(dir, "replaced"))
		}
		return errors.Join(err, d.Close())
	})
	if err == nil {
		err = cluster.Forget(o.Dir)
	}
	return r, err
}

// adopt brings a copy up to date, where it is of this installation.
func (o *RestoreOptions) adopt(ctx context.Context, d *db.DB) error {
	if err := d.Migrate(ctx, o.Migrations...); err != nil {
		return err
	}
	return o.Prove(ctx, d)
}

// mark marks the copy d as restored, and has ended in it what ended since, or may
// have.
func (o *RestoreOptions) mark(ctx context.Context, d *db.DB, scratch string) (carried string, why, err error) {
	r := &Restored{Reason: FromBackup, File: filepath.Base(o.File), At: o.Now}
	if why = o.copyReplaced(ctx, scratch); why == nil {
		why = d.Write(ctx, func(tx *db.Tx) error {
			c, err := identity.CarryOver(ctx, tx, filepath.Join(scratch, db.FileName))
			if err != nil {
				return err
			}
			r.Carried = c.String()
			return store(ctx, tx, r)
		})
	}
	if err := os.RemoveAll(scratch); err != nil {
		return "", nil, fmt.Errorf("removing a copy of the database of before: %w", err)
	}
	if why == nil {
		return r.Carried, nil, nil
	}
	return "", why, d.Write(ctx, func(tx *db.Tx) error {
		r.Carried = ""
		if err := store(ctx, tx, r); err != nil {
			return err
		}
		return identity.AfterRestore(ctx, tx)
	})
}

// copyReplaced copies the database that is there, of which nothing may be changed,
// into a folder, and brings the copy to the state of the backup's schema. The error
// is why it cannot be used.
func (o *RestoreOptions) copyReplaced(ctx context.Context, to string) error {
	exists, err := db.Exists(o.Dir)
	switch {
	case err != nil:
		return err
	case !exists:
		return errors.New("there was none")
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	for _, name := range []string{db.FileName, db.LogName} {
		if err := copyWhole(filepath.Join(o.Dir, name), filepath.Join(to, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	d, err := db.Open(ctx, db.Options{Dir: to})
	if err != nil {
		return err
	}
	if err = check(ctx, d); err == nil {
		err = o.adopt(ctx, d)
	}
	return errors.Join(err, d.Close())
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
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM sqlite_schema
			WHERE name IN ('schema_meta', 'secret_canary', 'audit_entries')`).Scan(&tables)
		if err == nil && tables != 3 {
			err = errors.New("it has no Outrigger tables")
		}
		return err
	})
}

func damaged(file string, why error) error {
	return fault.Wrap(why, fault.Invalid, "%s is not a complete Outrigger backup. Nothing was changed. Use a file that outrigger "+
		"backup wrote.", file)
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
	return write(to, io.MultiReader(strings.NewReader(header), in))
}

func copyWhole(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return write(to, in)
}

func write(to string, content io.Reader) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copying a database: %w", err)
	}
	_, err = io.Copy(out, content)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("copying a database: %w", err)
	}
	return nil
}
