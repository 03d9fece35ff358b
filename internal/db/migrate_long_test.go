package db_test

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// said is a log that keeps its lines, without times, and calls hear with each.
type said struct {
	level slog.Level
	mu    sync.Mutex
	lines []string
	hear  func(line string) // nil: nothing
}

func (s *said) Enabled(_ context.Context, level slog.Level) bool { return level >= s.level }
func (s *said) WithAttrs([]slog.Attr) slog.Handler               { return s }
func (s *said) WithGroup(string) slog.Handler                    { return s }

func (s *said) Handle(ctx context.Context, r slog.Record) error {
	var b strings.Builder
	err := slog.NewTextHandler(&b, &slog.HandlerOptions{Level: s.level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "took" {
			return slog.Attr{}
		}
		return a
	}}).Handle(ctx, r)
	line := strings.TrimSpace(b.String())
	s.mu.Lock()
	s.lines = append(s.lines, line)
	s.mu.Unlock()
	if s.hear != nil {
		s.hear(line)
	}
	return err
}

// opened opens the two databases with a log.
func opened(t *testing.T, log *slog.Logger) map[string]*db.DB {
	t.Helper()
	return map[string]*db.DB{
		"sqlite":   dbtest.Open(t, db.Options{Dir: t.TempDir(), Log: log}),
		"postgres": dbtest.Open(t, db.Options{URL: dbtest.PostgresURL(t), NodeID: "node_1", Log: log}),
	}
}

func TestEachSchemaFileIsLogged(t *testing.T) {
	s := said{level: slog.LevelInfo}
	for name, d := range opened(t, slog.New(&s)) {
		t.Run(name, func(t *testing.T) {
			s.lines = nil
			must(t, d.Migrate(t.Context(), set("m", first)))
			if len(s.lines) > 0 {
				t.Errorf("a new database has: %q", s.lines)
			}
			for range 2 { // the second finds nothing to do
				must(t, d.Migrate(t.Context(), set("m", first, second, "CREATE INDEX m_n ON m (n);"), set("n", "CREATE TABLE n (a TEXT) STRICT;")))
			}
			s.lines[0] = regexp.MustCompile(`database_mib=\d+`).ReplaceAllString(s.lines[0], "database_mib=N")
			want := []string{
				`level=INFO msg="changing the schema of the database" files=3 database_mib=N`,
				`level=INFO msg="schema file applied" component=m file=0002_test.sql`,
				`level=INFO msg="schema file applied" component=m file=0003_test.sql`,
				`level=INFO msg="schema file applied" component=n file=0001_test.sql`,
			}
			if !slices.Equal(s.lines, want) {
				t.Errorf("logged:\n%s", strings.Join(s.lines, "\n"))
			}
		})
	}
}

// The second of three statements takes 25 s.
func TestASchemaChangeThatLastsSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := said{level: slog.LevelDebug, hear: func(line string) {
			if strings.Contains(line, "level=DEBUG") && strings.Contains(line, "2 of 3") {
				<-time.After(25 * time.Second)
			}
		}}
		d, err := db.Open(t.Context(), db.Options{Dir: t.TempDir(), Log: slog.New(&s)})
		must(t, err)
		must(t, d.Migrate(t.Context(), set("m", first)))
		s.lines = nil
		must(t, d.Migrate(t.Context(), set("m", first, "-- Why;\nINSERT INTO m (name) VALUES ('a');\n\n-- More\nUPDATE m\nSET name = 'b';\nDELETE FROM m;")))
		must(t, d.Close())
		var got []string
		for _, line := range s.lines {
			if strings.Contains(line, "still") {
				got = append(got, line)
			}
		}
		const still = `level=INFO msg="still changing the schema of the database" component=m file=0002_test.sql statement="2 of 3" sql="UPDATE m" for=`
		if want := []string{still + "10s", still + "20s"}; !slices.Equal(got, want) {
			t.Errorf("logged:\n%s", strings.Join(s.lines, "\n"))
		}
	})
}

// What SQLite sets aside of a change is as large as what changes.
func TestASchemaChangeKeepsNothingLargeInMemory(t *testing.T) {
	const file, memory = 1, 2 // https://sqlite.org/pragma.html#pragma_temp_store
	d := dbtest.SQLite(t)
	must(t, d.Migrate(t.Context(), set("m", first, "INSERT INTO m (id, name) SELECT temp_store, 'storage' FROM pragma_temp_store;")))
	var during, after int
	must(t, d.Write(t.Context(), func(tx *db.Tx) error {
		return errors.Join(
			tx.QueryRow(t.Context(), `SELECT id FROM m`).Scan(&during),
			tx.QueryRow(t.Context(), `SELECT temp_store FROM pragma_temp_store`).Scan(&after))
	}))
	if during != file || after != memory {
		t.Errorf("temporary storage is %d during the change, want %d, and %d after it, want %d", during, file, after, memory)
	}
}

// PostgreSQL's bound of ordinary transactions, and of a role's statements, is not one of schema changes.
func TestASchemaChangeHasNoLimit(t *testing.T) {
	d := dbtest.Postgres(t)
	must(t, d.Migrate(t.Context(), set("m", first)))
	must(t, d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `SET statement_timeout = '200ms'`)
		return err
	}))
	d.BoundTransactions(200 * time.Millisecond)
	const slow = "SELECT pg_sleep(0.5);"
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), slow)
		return err
	}); err == nil {
		t.Error("an ordinary transaction has no limit")
	}
	must(t, d.Migrate(t.Context(), set("m", first, slow+"\n"+second)))
}

// A server that is stopped while it starts does not wait for its schema.
func TestASchemaChangeThatIsStopped(t *testing.T) {
	s := said{level: slog.LevelDebug}
	for name, d := range opened(t, slog.New(&s)) {
		t.Run(name, func(t *testing.T) {
			endless := map[string]string{
				"sqlite":   "INSERT INTO m (name) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'x' FROM n WHERE i < 0;",
				"postgres": "SELECT pg_sleep(3600);",
			}[name]
			must(t, d.Migrate(t.Context(), set("m", first)))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			s.hear = func(line string) {
				if strings.Contains(line, "2 of 2") {
					stop()
				}
			}
			if err := d.Migrate(ctx, set("m", first, second+"\n"+endless)); !errors.Is(err, context.Canceled) {
				t.Errorf("the error is %v", err)
			}
			s.hear = nil
			if versions, rows := applied(t, d); versions != "1-1" || rows != 0 {
				t.Errorf("versions %s, %d rows", versions, rows)
			}
			must(t, d.Migrate(t.Context(), set("m", first, second)))
		})
	}
}
