package db_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// grown is a schema that two releases added to: a column that is filled, and a table that is made again.
func grown() db.Migrations {
	return set("m", first,
		"ALTER TABLE m ADD COLUMN n INTEGER NOT NULL DEFAULT 0;\nUPDATE m SET n = id;\nCREATE INDEX m_n ON m (n);",
		"CREATE TABLE made (id INTEGER PRIMARY KEY, name TEXT NOT NULL, n INTEGER NOT NULL) STRICT;\n"+
			"INSERT INTO made (id, name, n) SELECT id, name, n * 10 FROM m;\nDROP TABLE m;\nALTER TABLE made RENAME TO m;")
}

// migrateUntil changes the schema of the database at place, a folder or a URL, and
// kills this process before the given statement.
func migrateUntil(statement int, place string) {
	s := said{level: slog.LevelDebug, hear: func(line string) {
		if !strings.Contains(line, "component=m") || !strings.Contains(line, "level=DEBUG") || !strings.Contains(line, "statement=") {
			return
		}
		if statement--; statement == 0 {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	}}
	d, err := db.Open(context.Background(), at(place, "child", slog.New(&s)))
	if err == nil {
		err = d.Migrate(context.Background(), grown())
	}
	if err != nil {
		panic(err)
	}
	_ = d.Close()
}

func at(place, node string, log *slog.Logger) db.Options {
	if strings.HasPrefix(place, "postgres") {
		return db.Options{URL: place, NodeID: node, Log: log}
	}
	return db.Options{Dir: place, Log: log}
}

// Wherever a schema change is killed, a file is there as a whole or not at all, and
// the next start completes it.
func TestKilledAtEachStatementOfASchemaChange(t *testing.T) {
	for name, place := range map[string]func() string{
		"sqlite":   t.TempDir,
		"postgres": func() string { return dbtest.PostgresURL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			const statements = 7
			for k := 1; k <= statements+1; k++ {
				at := place()
				killedAt(t, at, k, k <= statements)
			}
		})
	}
}

func killedAt(t *testing.T, place string, statement int, dies bool) {
	t.Helper()
	fill(t, place)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "migrate "+strconv.Itoa(statement), place)
	cmd.Env = append(os.Environ(), programEnv+"=1")
	out, _ := cmd.CombinedOutput() // how it ended is in its state
	if killed := cmd.ProcessState.ExitCode() == -1; killed != dies || !dies && !cmd.ProcessState.Success() {
		t.Fatalf("at statement %d it ended with %s: %s", statement, cmd.ProcessState, out)
	}
	d, err := db.Open(t.Context(), at(place, "next", nil))
	must(t, err)
	want := "1-1"
	if statement > 3 {
		want = "1-2"
	}
	if !dies {
		want = "1-3"
	}
	if versions, rows := applied(t, d); versions != want || rows != 3 {
		t.Errorf("killed at statement %d: versions %s, want %s; %d rows", statement, versions, want, rows)
	}
	must(t, d.Migrate(t.Context(), grown()))
	must(t, d.Read(t.Context(), func(tx *db.Tx) error {
		var sum int
		err := tx.QueryRow(t.Context(), `SELECT sum(n) FROM m WHERE name LIKE 'before%'`).Scan(&sum)
		if sum != 60 { // 10 * (1 + 2 + 3): each file ran once
			t.Errorf("killed at statement %d: the sum is %d", statement, sum)
		}
		return err
	}))
	must(t, d.Close())
}

// fill makes the database as it was before.
func fill(t *testing.T, place string) {
	t.Helper()
	d, err := db.Open(t.Context(), at(place, "before", nil))
	must(t, err)
	must(t, d.Migrate(t.Context(), set("m", first)))
	must(t, d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO m (name) VALUES ('before 1'), ('before 2'), ('before 3')`)
		return err
	}))
	must(t, d.Close())
}
