package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"outrigger/internal/fault"
)

// open brings the files into order and opens the pool. The connection that it
// gives is the first, and is kept open: as long as there is one, SQLite leaves
// the log where it is. Where full is not nil, a full disk is waited for, and full
// is told of it.
func (e *sqliteEngine) open(ctx context.Context, full func(error)) (first *session, err error) {
	file := filepath.Join(e.disk.dir, databaseFile)
	var fresh bool
	e.disk.file, fresh, err = createFile(file)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.disk.file.Close()
		}
	}()
	unclean, err := rewriteLog(filepath.Join(e.disk.dir, logFile))
	if err != nil {
		return nil, err
	}
	if fresh && unclean {
		return nil, fault.New(fault.Conflict, "The data folder %s has %s, which belongs to a database that is missing: "+
			"%s is not there or empty. Restore the database. Only if it is lost for good, move %[2]s away.", e.disk.dir, logFile, databaseFile)
	}
	connector, err := sqlite.NewConnector(dsn(file))
	if err != nil {
		return nil, err
	}
	e.pool = sql.OpenDB(connector)
	e.pool.SetMaxOpenConns(sqliteReaders + 3) // the writer, the checkpointer, a backup
	e.pool.SetMaxIdleConns(0)                 // sessions keep their connections; one that is given back is closed
	first, err = e.connect(ctx)
	if err == nil {
		err = e.disk.await(ctx, func() error { return e.prepare(ctx, first, fresh, unclean) }, full)
		if err == nil {
			err = e.disk.watch(e.lock)
		}
		if err != nil {
			first.close()
		}
	}
	if err != nil {
		return nil, errors.Join(err, e.pool.Close())
	}
	return first, nil
}

func dsn(file string) string {
	parameters := url.Values{"_pragma": {
		"synchronous(FULL)",      // a commit is on the disk before it is acknowledged
		"foreign_keys(1)",        // as on PostgreSQL
		"case_sensitive_like(1)", // as on PostgreSQL
		"busy_timeout(5000)",     // another program that looks into the file, a backup for example
		"temp_store(MEMORY)",     // what savepoints set aside needs no file
		"wal_autocheckpoint(0)",  // the checkpointer does it
	}}
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + parameters.Encode()
}

// Exists reports whether a data folder has a SQLite database in which there is
// anything.
func Exists(dir string) (bool, error) {
	info, err := os.Stat(filepath.Join(dir, databaseFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fault.Wrap(err, fault.Unavailable, "The data folder %s cannot be used. Make it readable and writable for this user.", dir)
	}
	return info.Size() > 0, nil
}

// createFile makes the database file where there is none, readable only by its
// owner; SQLite gives those beside it the same mode. fresh says that nothing is
// in it yet.
func createFile(file string) (f *os.File, fresh bool, err error) {
	if f, err = os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, false, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, info.Size() == 0, nil
}

// rewriteLog writes the log that an unclean end left over itself and syncs it.
// After a failed fsync the system may remember pages that are not on the disk
// and count them as clean; written again they are synced again. Without that, a
// power cut while the log is moved could leave half of a transaction in the
// database file, of which the log on the disk has nothing.
//
// An orderly end leaves no log, or an empty one.
func rewriteLog(name string) (unclean bool, err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	chunk := make([]byte, 1<<20)
	for at := int64(0); ; {
		n, err := f.ReadAt(chunk, at)
		if err != nil && err != io.EOF {
			return false, fmt.Errorf("reading the log: %w", err)
		}
		if _, err := f.WriteAt(chunk[:n], at); err != nil {
			return false, fmt.Errorf("writing the log again: %w", err)
		}
		at += int64(n)
		if err == io.EOF {
			if at == 0 {
				return false, nil
			}
			return true, f.Sync()
		}
	}
}

// newPageSize is that of a new database; one that is there keeps its own. Events have
// 2 KB, of which a page of 4 KiB, SQLite's default, holds one.
const newPageSize = 8192

// prepare sets what the file keeps, moves the log of an unclean end into it, so
// that a new one begins, and has SQLite write it once, so that a folder that cannot
// be written shows at the start. It can be tried again where the disk is full.
func (e *sqliteEngine) prepare(ctx context.Context, ses *session, fresh, unclean bool) error {
	e.disk.needs.Store(startRoom)
	err := prepare(ctx, ses, fresh, unclean)
	if asked := ses.queryRow(ctx, "PRAGMA page_size", nil).Scan(&e.disk.pageSize); err == nil {
		err = asked
	}
	if err == nil {
		if !unclean && e.disk.refusal(startRoom) != nil { // moving a log has made room
			err = errFull
		}
		return e.disk.judge(err)
	}
	if unclean {
		// So long the file gets, for want of reserve's doing.
		var pages int64
		if asked := ses.queryRow(ctx, "PRAGMA page_count", nil).Scan(&pages); asked == nil {
			e.disk.needs.Store(pages*e.disk.pageSize - e.disk.size(databaseFile) + startRoom)
		}
	}
	_, _ = ses.conn.ExecContext(ctx, "ROLLBACK") // of what a full disk refused; else there is none
	return e.disk.judge(err)
}

func prepare(ctx context.Context, ses *session, fresh, unclean bool) error {
	if fresh { // before anything is in the file
		pragmas := fmt.Sprintf("PRAGMA page_size = %d; PRAGMA auto_vacuum = INCREMENTAL", newPageSize)
		if _, err := ses.conn.ExecContext(ctx, pragmas); err != nil {
			return err
		}
	}
	if _, err := ses.conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if unclean {
		logged, moved, err := checkpoint(ses, "TRUNCATE")
		if err != nil {
			return fmt.Errorf("recovering from the log: %w", err)
		}
		if logged != 0 || moved != 0 { // it is empty afterwards, unless a reader is in the way
			return fault.New(fault.Conflict, "Another program has the database file %s open, so the server cannot recover its log. "+
				"Close that program and start again.", databaseFile)
		}
	}
	_, err := ses.conn.ExecContext(ctx, "BEGIN IMMEDIATE; PRAGMA user_version = 1; COMMIT")
	return err
}
