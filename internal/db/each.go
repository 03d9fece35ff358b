package db

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Row is a row of a result, as *sql.Row and *sql.Rows are.
type Row interface {
	Scan(dest ...any) error
}

// Each runs one statement once for each of args, in their order. On PostgreSQL
// all of them go in one round trip, which is what makes a Batch fast there. If
// scan is not nil, it is called for every row that comes back, with the index
// in args of the run that gave it; it scans columns into their own types
// (int64, string, []byte) and runs no statements. An error begins with what was being
// done, as that of Do.
func (tx *Tx) Each(ctx context.Context, what, q string, args [][]any, scan func(i int, row Row) error) error {
	return doing(what, tx.each(ctx, q, args, scan))
}

func (tx *Tx) each(ctx context.Context, q string, args [][]any, scan func(i int, row Row) error) error {
	if err := tx.ready(); err != nil || len(args) == 0 {
		return err
	}
	ctx = tx.context(ctx)
	if tx.dialect == Postgres {
		_, err := tx.pipeline(ctx, q, args, scan)
		return tx.note(err)
	}
	if scan == nil {
		_, err := tx.ses.each(ctx, q, args)
		return tx.note(err)
	}
	for i, a := range args {
		if err := tx.ses.one(ctx, q, a, i, scan); err != nil {
			return tx.note(err)
		}
	}
	return nil
}

// ExecEach is Each without rows, and returns the indexes in args of the runs that
// changed no row.
func (tx *Tx) ExecEach(ctx context.Context, q string, args [][]any) (missed []int, err error) {
	if err := tx.ready(); err != nil || len(args) == 0 {
		return nil, err
	}
	ctx = tx.context(ctx)
	if tx.dialect == Postgres {
		missed, err = tx.pipeline(ctx, q, args, nil)
	} else {
		missed, err = tx.ses.each(ctx, q, args)
	}
	return missed, tx.note(err)
}

// one runs q for the i-th arguments.
func (s *session) one(ctx context.Context, q string, args []any, i int, scan func(int, Row) error) error {
	rows, err := s.query(ctx, q, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(i, rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// pipeline sends every run at once and reads the answers as they come. Without
// scan it gives the runs that changed no row.
func (tx *Tx) pipeline(ctx context.Context, q string, args [][]any, scan func(int, Row) error) (missed []int, err error) {
	batch := &pgx.Batch{}
	for _, a := range args {
		batch.Queue(q, a...)
	}
	var failed error
	err = tx.ses.conn.Raw(func(dc any) error {
		res := dc.(*stdlib.Conn).Conn().SendBatch(ctx, batch)
		for i := range args {
			var n int64
			if n, failed = answer(res, i, scan); failed != nil {
				break
			}
			if scan == nil && n == 0 {
				missed = append(missed, i)
			}
		}
		if err := res.Close(); failed == nil {
			failed = err
		}
		return nil // a connection that broke shows at the rollback
	})
	if failed != nil {
		return nil, failed
	}
	return missed, err
}

// answer reads the answer to one run: its rows where they are scanned, else how
// many it changed.
func answer(res pgx.BatchResults, i int, scan func(int, Row) error) (changed int64, err error) {
	if scan == nil {
		tag, err := res.Exec()
		return tag.RowsAffected(), err
	}
	rows, err := res.Query()
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(i, rows); err != nil {
			return 0, err
		}
	}
	return 0, rows.Err()
}
