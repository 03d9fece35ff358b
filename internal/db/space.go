package db

import (
	"context"
	"errors"
	"fmt"
)

// What is kept for the rows to come, since to cut off what the next hour needs
// again costs twice: one page of spareShare, and at least spareLeast bytes.
const (
	spareShare = 8
	spareLeast = 1 << 20
)

// FreePages returns to the file system up to limit pages of SQLite's file that nothing
// uses, and says how many it were: fewer than limit when no more is to be had. The
// file gets shorter when the log is moved into it next. PostgreSQL does this by
// itself.
func (tx *Tx) FreePages(ctx context.Context, limit int) (int64, error) {
	if tx.dialect == Postgres {
		return 0, nil
	}
	pages, free, err := tx.pages(ctx)
	if err != nil {
		return 0, err
	}
	// So many fewer pages leave one of spareShare free.
	n := min(int64(limit), (spareShare*free-pages)/(spareShare-1), free-spareLeast/tx.ses.disk.pageSize)
	if n <= 0 {
		return 0, nil
	}
	rows, err := tx.Query(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, n))
	if err != nil {
		return 0, err
	}
	for rows.Next() { // a page each
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	left, _, err := tx.pages(ctx)
	return pages - left, err
}

// pages counts the pages of SQLite's file, and those that nothing uses.
func (tx *Tx) pages(ctx context.Context) (all, free int64, err error) {
	if err = tx.QueryRow(ctx, `PRAGMA page_count`).Scan(&all); err == nil {
		err = tx.QueryRow(ctx, `PRAGMA freelist_count`).Scan(&free)
	}
	return all, free, err
}

// Size is how many bytes the database has on disk, and the write-ahead log beside
// it; PostgreSQL's own log is not the database's alone, and is 0.
func (d *DB) Size(ctx context.Context) (database, log int64, err error) {
	if e, ok := d.engine.(*sqliteEngine); ok {
		return e.disk.size(databaseFile), e.disk.size(logFile), nil
	}
	err = d.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&database)
	})
	return database, 0, err
}
