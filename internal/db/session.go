package db

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5/pgconn"
)

// session is one connection, used by one goroutine at a time, with the
// statements prepared on it.
type session struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // nil on PostgreSQL, whose driver keeps them itself
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

// close gives the connection back.
func (s *session) close() error {
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
