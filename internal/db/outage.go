package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// IsUnique reports whether err comes from a UNIQUE or PRIMARY KEY constraint.
func IsUnique(err error) bool {
	var s *sqlite.Error
	if errors.As(err, &s) {
		return s.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || s.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	var p *pgconn.PgError
	return errors.As(err, &p) && p.Code == "23505"
}

// IsFull reports whether err comes from a disk, or a quota, that is full: of the
// database, or of a file beside it.
func IsFull(err error) bool {
	var s *sqlite.Error
	var p *pgconn.PgError
	return errors.Is(err, errFull) || isFull(err) ||
		errors.As(err, &s) && s.Code()&0xff == sqlite3.SQLITE_FULL || errors.As(err, &p) && p.Code == diskFull
}

// errFull is behind an I/O error of SQLite that a full disk explains.
var errFull = errors.New("the disk is full")

// errReadOnly is behind one that a read-only file system explains.
var errReadOnly = errors.New("the file system is read-only")

// diskFull is what PostgreSQL calls it.
const diskFull = "53100"

// outage is the sentence about an error that comes from the database or its
// disk being unusable for now, and empty for every other error.
func outage(err error) string {
	var s *sqlite.Error
	if errors.As(err, &s) {
		return sqliteOutage(s.Code())
	}
	var p *pgconn.PgError
	if errors.As(err, &p) {
		return postgresOutage(p.Code)
	}
	var connecting *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &connecting), errors.As(err, &network),
		errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		pgconn.SafeToRetry(err): // nothing was sent, since the connection was closed
		return "The database does not answer. Outrigger resumes by itself when it does."
	}
	return ""
}

func sqliteOutage(code int) string {
	switch code & 0xff { // the primary code; what is above says which call failed
	case sqlite3.SQLITE_FULL:
		return "The disk of the data folder is full. Free some space; Outrigger then resumes by itself."
	case sqlite3.SQLITE_READONLY:
		return "The database file cannot be written. Make the data folder writable again; Outrigger then resumes by itself."
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return "The database file in the data folder cannot be used. Look at its disk and permissions; Outrigger then resumes by itself."
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return "The database file in the data folder is damaged. Restore it from a backup."
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return "Another program holds the database file in the data folder. Close it; Outrigger then resumes by itself."
	case sqlite3.SQLITE_NOMEM:
		return "There is no memory left for the database."
	}
	return ""
}

// postgresOutage goes by SQLSTATE, see
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func postgresOutage(code string) string {
	switch {
	case code == diskFull:
		return "The disk of the database server is full. Free some space there; Outrigger then resumes by itself."
	case code == "53300":
		return "The database server takes no more connections. Raise its max_connections, or stop what holds them."
	case code == "25006":
		return "The database server takes no writes now (it is a standby or set read-only). Outrigger resumes by itself when it does."
	case code == "57014", code == "55P03", code == "40001", code == "40P01":
		return "The database server was too busy to finish. Try again."
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "57P"), code == "25P03":
		return "The database server does not answer. Outrigger resumes by itself when it does."
	case strings.HasPrefix(code, "53"), strings.HasPrefix(code, "58"), strings.HasPrefix(code, "XX"):
		return "The database server cannot work. Look at its log; Outrigger then resumes by itself."
	}
	return ""
}
