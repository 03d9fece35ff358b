package source

import (
	"database/sql"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
	"outrigger/internal/threads"
)

// hostRows are rows of a host: replies, and comments that answer none.
func HostRows() (rows [][3]string, want []threads.Record) {
	for i := range int64(25) {
		r := Rec(100+i/5, 1000+2*i, 1000+2*i-1)
		parent := fmt.Sprint(r.ParentCommentID)
		if i%7 == 3 {
			parent = ""
		} else {
			want = append(want, r)
		}
		rows = append(rows, [3]string{fmt.Sprint(r.IssueID), fmt.Sprint(r.CommentID), parent})
	}
	rows = append(rows, [3]string{fmt.Sprint(int64(math.MaxInt64)), fmt.Sprint(int64(math.MaxInt64)), "5"})
	return rows, append(want, Rec(math.MaxInt64, math.MaxInt64, 5))
}

// readAll reads a database in pages of a size.
func readAll(t *testing.T, d *Database, limit int) []threads.Record {
	t.Helper()
	var all []threads.Record
	for after, more := int64(math.MinInt64), true; more; {
		records, last, m, err := d.Read(t.Context(), after, limit)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, records...)
		after, more = last, m
	}
	return all
}

func OpenHost(t *testing.T, address, query string) *Database {
	t.Helper()
	d, err := OpenDatabase(secret.New(address), query)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

const hostTable = "AO_1A2B3C_COMMENT_INFO"

// fill makes the host's table, with names quoted by mark.
func FillHost(t *testing.T, db *sql.DB, mark string, rows [][3]string) {
	t.Helper()
	table := mark + hostTable + mark
	for _, q := range []string{
		"DROP TABLE IF EXISTS " + table,
		strings.ReplaceAll("CREATE TABLE "+table+" ('ID' bigint, 'ISSUE_ID' bigint, 'COMMENT_ID' bigint, 'PARENT_COMMENT_ID' bigint)", "'", mark),
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range rows {
		if r[2] == "" {
			r[2] = "NULL"
		}
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO %s VALUES (%d, %s, %s, %s)", table, i, r[0], r[1], r[2])); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPostgreSQLHost(t *testing.T) {
	address := dbtest.PostgresURL(t)
	rows, want := HostRows()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	FillHost(t, db, `"`, rows)
	for _, query := range []string{
		`SELECT * FROM "` + hostTable + `";`,
		`SELECT "COMMENT_ID" AS commentid, "PARENT_COMMENT_ID" AS "ParentCommentId", "ISSUE_ID" AS "issue_id" FROM "` + hostTable + "\"\n",
		`SELECT "ISSUE_ID" AS a, "COMMENT_ID" AS "b ""c", "PARENT_COMMENT_ID" AS "from" FROM "` + hostTable + `"`,
	} {
		d := OpenHost(t, address, query)
		for _, limit := range []int{1, 7, 1000} {
			if got := readAll(t, d, limit); !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d: %v", query, limit, got)
			}
		}
	}
	for query, why := range map[string]string{
		`SELECT 1 AS a, 2 AS b`:                                               "it needs issueId, commentId and parentCommentId",
		`SELECT 1 AS issueid, 2 AS commentid, 3 AS other`:                     "it needs issueId",
		`SELECT * FROM nowhere`:                                               "nowhere",
		`SELECT 1 AS issueid, 'x' AS commentid, 3 AS parentcommentid`:         "query of threads.sql",
		`DELETE FROM "` + hostTable + `" RETURNING 1, 2, 3`:                   "query of threads.sql",
		`SELECT 1, setval('s', 1), 2`:                                         "query of threads.sql",
		`SELECT 1.5 AS issueid, 2 AS commentid, 3 AS parentcommentid`:         "query of threads.sql",
		`SELECT 1 AS issueid, 1/0 AS commentid, 3 AS parentcommentid`:         "zero",
		`SELECT 1 AS issueid, 2 AS commentid, 3 AS parentcommentid; SELECT 1`: "query of threads.sql",
	} {
		_, _, _, err := OpenHost(t, address, query).Read(t.Context(), math.MinInt64, 10)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", query, err)
		}
	}
	var left int
	if err := db.QueryRow(`SELECT count(*) FROM "` + hostTable + `"`).Scan(&left); err != nil || left != len(rows) {
		t.Errorf("%d rows are left, %v", left, err)
	}
}

// MySQL is played here, so that its protocol, the URL and the password are
// held everywhere; TEST_MYSQL_URL names a real server to ask as well.
func TestMySQLHost(t *testing.T) {
	rows, want := HostRows()
	m := &playedMySQL{
		t: t, user: "out:rigger", db: "jira", password: "p@ss/w:rd", rows: rows, query: "SELECT * FROM `" + hostTable + "`",
		columns: [3]string{"ISSUE_ID", "COMMENT_ID", "PARENT_COMMENT_ID"},
	}
	address := m.start()
	login := url.UserPassword(m.user, m.password).String()
	d := OpenHost(t, "mysql://"+login+"@"+address+"/jira", m.query+" ;")
	for _, limit := range []int{1, 7, 1000} {
		if got := readAll(t, d, limit); !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v", limit, got)
		}
	}
	if want := "SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')"; !slices.Contains(m.asked, want) {
		t.Errorf("names in double quotes are texts: %q", m.asked[:3])
	}
	if !slices.Contains(m.asked, "START TRANSACTION READ ONLY") {
		t.Errorf("it does not only read: %q", m.asked[:3])
	}
	d.Close()
	wrong := OpenHost(t, "mysql://"+url.UserPassword(m.user, "wrong").String()+"@"+address+"/jira", m.query)
	if _, _, _, err := wrong.Read(t.Context(), 0, 1); err == nil || !strings.Contains(err.Error(), "connecting to the host's database") {
		t.Errorf("a wrong password: %v", err)
	}
}

func TestRealMySQLHost(t *testing.T) {
	address := os.Getenv("TEST_MYSQL_URL")
	if address == "" {
		return // the protocol is held by TestMySQLHost
	}
	rows, want := HostRows()
	for _, query := range []string{"SELECT * FROM `" + hostTable + "`", DocumentedQuery(t)} {
		d := OpenHost(t, address, query)
		FillHost(t, d.pool, "`", rows)
		for _, limit := range []int{1, 7, 1000} {
			if got := readAll(t, d, limit); !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d: %v", query, limit, got)
			}
		}
	}
}

func TestDatabaseURLs(t *testing.T) {
	for _, address := range []string{"", "jira", "oracle://h/d", "mysql://", "mysql://h/d?timeout=soon", "postgres://h:port/d"} {
		if d, err := OpenDatabase(secret.New(strings.Replace(address, "//", "//u:p4ss@", 1)), "SELECT 1"); err == nil || strings.Contains(err.Error(), "p4ss") {
			t.Errorf("%s: %v, %v", address, d, err)
		}
	}
}

// DocumentedQuery is the query that the list of settings shows, for the table of these
// tests.
func DocumentedQuery(t *testing.T) string {
	t.Helper()
	settings, err := os.ReadFile("../../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, about, _ := strings.Cut(string(settings), "`threads.sql.query`: ")
	_, query, found := strings.Cut(about, "SELECT ")
	if !found {
		t.Fatal("there is no example")
	}
	query, _, _ = strings.Cut(query, ". ")
	return "SELECT " + query
}
