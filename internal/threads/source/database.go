package source

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
	"outrigger/internal/threads"
)

// Database is the host application's own database, PostgreSQL or MySQL, and
// the query that yields the records in it. It is only read.
type Database struct {
	pool    *sql.DB
	mysql   bool
	query   string
	columns []string // issue, comment and parent, quoted; nil before the first read
	secret  string   // the password, which errors of the database may quote
}

const (
	// dialTime bounds a connection attempt.
	dialTime = 10 * time.Second
	// queryTime bounds one query: long enough for a table without an index.
	queryTime = 2 * time.Minute
)

// OpenDatabase takes a URL (postgres://user:password@host:5432/name, or
// mysql://user:password@host:3306/name; what follows a question mark is for
// the driver) and a query that yields the columns issueId, commentId and
// parentCommentId, found by their names without regard to case and
// underscores, else by their order. It does not connect yet.
func OpenDatabase(address secret.Value, query string) (*Database, error) {
	u, err := url.Parse(address.Reveal())
	if err != nil {
		return nil, errDatabaseURL()
	}
	d := &Database{query: strings.TrimRight(strings.TrimSpace(query), "; \n")}
	d.secret, _ = u.User.Password()
	switch u.Scheme {
	case "postgres", "postgresql":
		cfg, err := pgx.ParseConfig(address.Reveal())
		if err != nil {
			return nil, errDatabaseURL()
		}
		cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, dialTime)
		cfg.RuntimeParams["application_name"] = "outrigger"
		d.pool = stdlib.OpenDB(*cfg)
	case "mysql":
		connector, err := mysqlConnector(u)
		if err != nil {
			return nil, err
		}
		d.mysql, d.pool = true, sql.OpenDB(connector)
	default:
		return nil, errDatabaseURL()
	}
	d.pool.SetMaxOpenConns(1)
	d.pool.SetConnMaxIdleTime(dialTime) // between two passes nothing is held
	return d, nil
}

// errDatabaseURL does not quote the URL, which has a password.
func errDatabaseURL() error {
	return fault.New(fault.Invalid, "threads.sql.url is not a database URL; write it as postgres://user:password@host:5432/name or "+
		"mysql://user:password@host:3306/name.")
}

func mysqlConnector(u *url.URL) (driver.Connector, error) {
	cfg, err := mysql.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, errDatabaseURL()
	}
	host, port := u.Hostname(), cmp.Or(u.Port(), "3306")
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(host, port)
	cfg.DBName = strings.TrimPrefix(u.Path, "/")
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.InterpolateParams = true // two numbers a query: nothing to prepare
	cfg.Logger = &mysql.NopLogger{}
	// Names in double quotes, as in PostgreSQL: one example suits both.
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	if cfg.Params["sql_mode"] == "" {
		cfg.Params["sql_mode"] = "CONCAT(@@sql_mode, ',ANSI_QUOTES')"
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, dialTime)
	connector, err := mysql.NewConnector(cfg)
	if err != nil || host == "" {
		return nil, errDatabaseURL()
	}
	return connector, nil
}

// Close returns the connection back.
func (d *Database) Close() error { return d.pool.Close() }

// Read returns up to limit rows above a comment. Comments that answer none (no
// parent) are passed over, as are rows without an issue or a comment. Its errors
// do not quote the password.
func (d *Database) Read(ctx context.Context, after int64, limit int) (records []threads.Record, last int64, more bool, err error) {
	if records, last, more, err = d.read(ctx, after, limit); err != nil && d.secret != "" {
		err = &masked{err, strings.ReplaceAll(err.Error(), d.secret, secret.New(d.secret).String())}
	}
	return records, last, more, err
}

// masked is an error whose text is fit to be shown.
type masked struct {
	error
	text string
}

func (m *masked) Error() string { return m.text }
func (m *masked) Unwrap() error { return m.error }

func (d *Database) read(ctx context.Context, after int64, limit int) (records []threads.Record, last int64, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	tx, err := d.pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, 0, false, fmt.Errorf("connecting to the host's database: %w", err)
	}
	defer tx.Rollback()
	if d.columns == nil || after == math.MinInt64 { // a pass begins: the query's tables may have changed
		if d.columns, err = d.find(ctx, tx); err != nil {
			return nil, 0, false, err
		}
	}
	rows, err := tx.QueryContext(ctx, d.page(), after, limit)
	if err != nil {
		return nil, 0, false, fmt.Errorf("the query of threads.sql: %w", err)
	}
	defer rows.Close()
	n := 0
	for last = after; rows.Next(); n++ {
		var issue, comment, parent sql.NullInt64
		if err := rows.Scan(&issue, &comment, &parent); err != nil {
			return nil, 0, false, fmt.Errorf("the query of threads.sql: %w", err)
		}
		if comment.Int64 < last || comment.Int64 == math.MinInt64 {
			return nil, 0, false, errors.New("the query of threads.sql: the column commentId does not sort as a number")
		}
		if issue.Valid && parent.Valid && (comment.Int64 > last || n == 0) {
			records = append(records, threads.Record{IssueID: issue.Int64, CommentID: comment.Int64, ParentCommentID: parent.Int64})
		}
		last = comment.Int64
	}
	if err := rows.Err(); err != nil {
		return nil, 0, false, fmt.Errorf("the query of threads.sql: %w", err)
	}
	return records, last, n == limit, nil
}

// page is the query of one key range.
func (d *Database) page() string {
	list := "SELECT q." + strings.Join(d.columns, ", q.") + " FROM (" + d.query + ") AS q WHERE q." + d.columns[1]
	if d.mysql {
		return list + " > ? ORDER BY q." + d.columns[1] + " LIMIT ?"
	}
	return list + " > $1 ORDER BY q." + d.columns[1] + " LIMIT $2"
}

// find asks the query for its columns and picks the three.
func (d *Database) find(ctx context.Context, tx *sql.Tx) ([]string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT * FROM ("+d.query+") AS q WHERE 1 = 0")
	if err != nil {
		return nil, fmt.Errorf("the query of threads.sql: %w", err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("the query of threads.sql: %w", err)
	}
	picked := pick(names)
	if picked == nil {
		return nil, fmt.Errorf("the query of threads.sql yields the columns %s; it needs issueId, commentId and parentCommentId",
			strings.Join(names, ", "))
	}
	for i, name := range picked {
		picked[i] = d.quote(name)
	}
	return picked, rows.Err()
}

// pick finds issue, comment and parent among the columns: by name, else by
// order where there are three.
func pick(names []string) []string {
	wanted := [3]string{"issueid", "commentid", "parentcommentid"}
	picked := make([]string, 3)
	found := 0
	for _, name := range names {
		plain := strings.ReplaceAll(strings.ToLower(name), "_", "")
		if i := slices.Index(wanted[:], plain); i >= 0 && picked[i] == "" {
			picked[i] = name
			found++
		}
	}
	switch {
	case found == 3:
		return picked
	case len(names) == 3 && found == 0:
		return slices.Clone(names)
	}
	return nil
}

// quote writes a name, for both databases alike.
func (d *Database) quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
