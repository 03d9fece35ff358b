package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"outrigger/internal/fault"
)

// Backup writes the database, as it is at one moment, to file, which must not
// exist, while everything goes on. The copy is synced and for its owner only.
// It takes as much disk as the database has rows, not more; the log of the
// database grows meanwhile.
//
// On PostgreSQL it is fault.Conflict: its own tools make its backups.
func (d *DB) Backup(ctx context.Context, file string) error {
	e, ok := d.engine.(*sqliteEngine)
	if !ok {
		return errOwnTools
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // SQLite takes an empty file
	if err != nil {
		return fmt.Errorf("making the backup: %w", err)
	}
	if err = errors.Join(e.backup(ctx, file), f.Sync(), f.Close()); err != nil {
		// SQLite leaves the journal of a copy that it could not finish.
		if journal := os.Remove(file + "-journal"); !errors.Is(journal, os.ErrNotExist) {
			err = errors.Join(err, journal)
		}
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// CopySize is how many bytes Backup writes at most; errors are those of Backup.
func (d *DB) CopySize(ctx context.Context) (size int64, err error) {
	e, ok := d.engine.(*sqliteEngine)
	if !ok {
		return 0, errOwnTools
	}
	err = d.Read(ctx, func(tx *Tx) error {
		pages, free, err := tx.pages(ctx)
		size = (pages - free) * e.disk.pageSize
		return err
	})
	return size, err
}

var errOwnTools = fault.New(fault.Conflict, "This server's database is PostgreSQL. Back it up with PostgreSQL's own tools: "+
	"pg_dump for a copy of one moment, or pg_basebackup with archived logs. Keep secret_key with it.")

// backup has SQLite copy itself (https://sqlite.org/lang_vacuum.html#vacuuminto)
// on a connection of its own, so that no reader of the pool is kept busy.
func (e *sqliteEngine) backup(ctx context.Context, file string) error {
	ses, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer ses.close()
	if _, err := ses.conn.ExecContext(ctx, "VACUUM INTO $1", file); err != nil {
		// Not judged as the database's own disk: the copy may be on another.
		return fmt.Errorf("copying the database: %w", err)
	}
	return nil
}

// Replace puts another database in the place of the one in the data folder dir,
// while no process uses the folder: fault.Conflict where one does. fill makes
// the new one in the folder that it is given, as Open would find it there.
// Where fill fails, nothing is changed. The database that was there is kept
// under the name that Replace gives, "" where there was none.
func Replace(dir string, at time.Time, fill func(dir string) error) (kept string, err error) {
	lock, err := lockFolder(dir)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	draft, err := os.MkdirTemp(dir, "restore-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the new database: %w", err)
	}
	defer os.RemoveAll(draft)
	if err := fill(draft); err != nil {
		return "", err
	}
	if rest, err := os.Stat(filepath.Join(draft, logFile)); err == nil && rest.Size() > 0 {
		return "", fmt.Errorf("the new database was not closed: %s is left", logFile)
	}
	if kept, err = setAside(dir, at); err != nil {
		return "", fmt.Errorf("setting the present database aside: %w", err)
	}
	if err := os.Rename(filepath.Join(draft, databaseFile), filepath.Join(dir, databaseFile)); err != nil {
		return kept, fmt.Errorf("putting the new database in its place: %w", err)
	}
	return kept, syncFolder(dir)
}

// setAside renames the database, its log first: a database without its log
// would lack what was committed last, a log alone is refused at a start.
func setAside(dir string, at time.Time) (kept string, err error) {
	name := databaseFile + ".before-restore-" + at.UTC().Format("20060102-150405")
	// SQLite makes its index of the log again.
	if err := os.Remove(filepath.Join(dir, databaseFile+"-shm")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	for _, suffix := range []string{"-wal", ""} {
		err := os.Rename(filepath.Join(dir, databaseFile+suffix), filepath.Join(dir, name+suffix))
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return "", err
		case suffix == "":
			kept = name
		}
	}
	return kept, syncFolder(dir)
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
