package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// session is one connection, used by one goroutine at a time, with the
// statements prepared on it.
type session struct {
	conn  *sql.Conn
	disk  *disk                // nil on PostgreSQL
	stmts map[string]*sql.Stmt // nil on PostgreSQL, whose driver keeps them itself

	// What each runs: database/sql would take a tenth of the time of a small
	// insert, and a tenth of all that the server allocates, for arguments.
	bare map[string]driver.Stmt
	args []driver.NamedValue // of the run under way

	inserts map[insertText]string
}

// maxStatements bounds the prepared statements of a connection. Texts are
// constants but for lists with filters; past this many, some were built.
const maxStatements = 500

func (s *session) prepare(ctx context.Context, q string) (*sql.Stmt, error) {
	if stmt, ok := s.stmts[q]; ok {
		return stmt, nil
	}
	if len(s.stmts) >= maxStatements {
		s.forget()
	}
	stmt, err := s.conn.PrepareContext(ctx, q)
	if err != nil {
		return nil, err
	}
	s.stmts[q] = stmt
	return stmt, nil
}

// forget closes every prepared statement.
func (s *session) forget() {
	for q, stmt := range s.stmts {
		stmt.Close()
		delete(s.stmts, q)
	}
	for q, stmt := range s.bare {
		stmt.Close()
		delete(s.bare, q)
	}
}

// each runs one statement for each of args, on SQLite, and says how many rows
// it changed in all.
func (s *session) each(ctx context.Context, q string, args [][]any) (missed []int, err error) {
	return s.repeat(ctx, q, len(args), func(i int, bound []driver.NamedValue) ([]driver.NamedValue, error) {
		return bind(args[i], bound)
	})
}

// repeat runs one statement n times, on SQLite, with the arguments that args
// appends, and returns the runs that changed no row.
func (s *session) repeat(
	ctx context.Context, q string, n int, args func(i int, to []driver.NamedValue) ([]driver.NamedValue, error),
) (missed []int, err error) {
	err = s.conn.Raw(func(dc any) error {
		stmt, ok := s.bare[q]
		if !ok {
			if len(s.bare) >= maxStatements {
				s.forget()
			}
			var err error
			if stmt, err = dc.(driver.ConnPrepareContext).PrepareContext(ctx, q); err != nil {
				return err
			}
			s.bare[q] = stmt
		}
		run := stmt.(driver.StmtExecContext)
		for i := range n {
			var err error
			if s.args, err = args(i, s.args[:0]); err != nil {
				return err
			}
			res, err := run.ExecContext(ctx, s.args)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			if n == 0 {
				missed = append(missed, i)
			}
		}
		return nil
	})
	return missed, err
}

// bind appends arguments made of values, as database/sql makes them.
func bind(values []any, to []driver.NamedValue) ([]driver.NamedValue, error) {
	for i, v := range values {
		value, err := driver.DefaultParameterConverter.ConvertValue(v)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		to = append(to, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return to, nil
}

func (s *session) exec(ctx context.Context, q string, args []any) (int64, error) {
	var res sql.Result
	var err error
	if s.stmts == nil {
		res, err = s.conn.ExecContext(ctx, q, args...)
	} else {
		var stmt *sql.Stmt
		if stmt, err = s.prepare(ctx, q); err == nil {
			res, err = stmt.ExecContext(ctx, args...)
		}
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (s *session) query(ctx context.Context, q string, args []any) (*sql.Rows, error) {
	if s.stmts == nil {
		return s.conn.QueryContext(ctx, q, args...)
	}
	stmt, err := s.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

func (s *session) queryRow(ctx context.Context, q string, args []any) *sql.Row {
	if s.stmts != nil {
		if stmt, err := s.prepare(ctx, q); err == nil {
			return stmt.QueryRowContext(ctx, args...)
		}
	}
	return s.conn.QueryRowContext(ctx, q, args...)
}

// close returns the connection back. On a disk that failed it stays open: the
// last connection to close would reset the log.
func (s *session) close() error {
	if s.disk.failure() != nil {
		return nil
	}
	s.forget()
	return s.conn.Close()
}

// script runs several statements without arguments.
func (s *session) script(ctx context.Context, script string) error {
	if s.stmts == nil {
		return simple(ctx, s.conn, script, func([]*pgconn.Result) error { return nil })
	}
	_, err := s.conn.ExecContext(ctx, script)
	return err
}
