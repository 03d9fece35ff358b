package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// machine is a node with a data folder, and what its heartbeats found.
type machine struct {
	*Cluster
	dir   string
	found []Found
}

func boot(t *testing.T, d *db.DB, id, dir string) *machine {
	t.Helper()
	m := &machine{dir: dir}
	m.Cluster = New(d, Options{
		NodeID: id, Clustered: true, Dir: dir, Place: "here",
		Beaten: func(_ context.Context, tx *db.Tx, f *Finding) error {
			if f != nil {
				tx.AfterCommit(func() { m.found = append(m.found, f.Found) })
			}
			return nil
		},
	})
	n, err := readNote(dir)
	must(t, err)
	m.noted = n
	must(t, m.register(t.Context()))
	return m
}

func (m *machine) beat(t *testing.T, times int) {
	t.Helper()
	for range times {
		beat(t, m.Cluster)
	}
}

func (m *machine) shutDown(t *testing.T) {
	t.Helper()
	must(t, m.apply(t.Context(), m.o.NodeID, stops))
}

func (m *machine) wants(t *testing.T, what string, found ...Found) {
	t.Helper()
	if fmt.Sprint(m.found) != fmt.Sprint(found) {
		t.Errorf("%s: %s found %v, want %v", what, m.o.NodeID, m.found, found)
	}
}

// state is what a dump of the tables of this package has.
type state struct{ nodes, identity [][]any }

func dump(t *testing.T, d *db.DB) (s state) {
	t.Helper()
	must(t, d.Read(t.Context(), func(tx *db.Tx) (err error) {
		if s.nodes, err = rowsOf(t.Context(), tx, `SELECT id, state, address, version, started_at, beat_at, changed_at, beats FROM cluster_nodes`, 8); err == nil {
			s.identity, err = rowsOf(t.Context(), tx, `SELECT id, identity, begun_at, begun_in FROM cluster_database`, 4)
		}
		return err
	}))
	return s
}

func rowsOf(ctx context.Context, tx *db.Tx, q string, columns int) (all [][]any, err error) {
	rows, err := tx.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row, to := make([]any, columns), make([]any, columns)
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

func restore(t *testing.T, d *db.DB, s state) {
	t.Helper()
	must(t, d.Write(t.Context(), func(tx *db.Tx) error {
		for _, q := range []string{`DELETE FROM cluster_nodes`, `DELETE FROM cluster_database`} {
			if _, err := tx.Exec(t.Context(), q); err != nil {
				return err
			}
		}
		for _, row := range s.nodes {
			if _, err := tx.Exec(t.Context(), `INSERT INTO cluster_nodes VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, row...); err != nil {
				return err
			}
		}
		for _, row := range s.identity {
			if _, err := tx.Exec(t.Context(), `INSERT INTO cluster_database VALUES ($1, $2, $3, $4)`, row...); err != nil {
				return err
			}
		}
		return nil
	}))
}

// shift moves all times of the database, as if its clock had been moved the other
// way.
func shift(t *testing.T, d *db.DB, by time.Duration) {
	t.Helper()
	must(t, d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE cluster_nodes SET started_at = started_at + $1, beat_at = beat_at + $1, changed_at = changed_at + $1`, by.Microseconds())
		return err
	}))
}

func writeNote(t *testing.T, dir, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, noteFile), []byte(text), 0o600))
}

func noteText(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, noteFile))
	must(t, err)
	return string(text)
}

// What a node finds when it starts again, of a database that was dumped, went on,
// and was stopped.
func TestWhatAStartFinds(t *testing.T) {
	other := state{identity: [][]any{{int64(1), "of another installation", int64(0), ""}}, nodes: [][]any{{"z", "OFFLINE", "", "", int64(1), int64(1), int64(1), int64(5)}}}
	cases := map[string]struct {
		between func(t *testing.T, d *db.DB, dir string, dumped state)
		want    []Found
	}{
		"nothing happened":              {func(*testing.T, *db.DB, string, state) {}, nil},
		"an earlier state":              {func(t *testing.T, d *db.DB, _ string, s state) { restore(t, d, s) }, []Found{Earlier}},
		"another database, filled":      {func(t *testing.T, d *db.DB, _ string, _ state) { restore(t, d, other) }, []Found{Other}},
		"another database, empty":       {func(t *testing.T, d *db.DB, _ string, _ state) { restore(t, d, state{}) }, nil},
		"a stop of three days":          {func(t *testing.T, d *db.DB, _ string, _ state) { shift(t, d, -72*time.Hour) }, nil},
		"a clock that was set back":     {func(t *testing.T, d *db.DB, _ string, _ state) { shift(t, d, 72*time.Hour) }, nil},
		"no note":                       {func(t *testing.T, _ *db.DB, dir string, _ state) { must(t, Forget(dir)) }, nil},
		"no note of an earlier state":   {func(t *testing.T, d *db.DB, dir string, s state) { restore(t, d, s); must(t, Forget(dir)) }, nil},
		"a damaged note":                {func(t *testing.T, _ *db.DB, dir string, _ state) { writeNote(t, dir, "\x17garbage") }, []Found{Unknown}},
		"a cut note":                    {func(t *testing.T, _ *db.DB, dir string, _ state) { writeNote(t, dir, noteText(t, dir)[:20]) }, []Found{Unknown}},
		"a note without members":        {func(t *testing.T, _ *db.DB, dir string, _ state) { writeNote(t, dir, "{}") }, []Found{Unknown}},
		"a note that a power cut ate":   {func(t *testing.T, _ *db.DB, dir string, _ state) { writeNote(t, dir, "\x00\x00") }, nil},
		"a damaged note, nothing there": {func(t *testing.T, d *db.DB, dir string, _ state) { restore(t, d, state{}); writeNote(t, dir, "x") }, nil},
		"a note by a clock ahead, and nothing happened": {func(t *testing.T, _ *db.DB, dir string, _ state) {
			writeNote(t, dir, strings.Replace(noteText(t, dir), `"seenAt":"20`, `"seenAt":"29`, 1))
		}, nil},
		"a note by a clock ahead, and an earlier state": {func(t *testing.T, d *db.DB, dir string, s state) {
			restore(t, d, s)
			writeNote(t, dir, strings.Replace(noteText(t, dir), `"seenAt":"20`, `"seenAt":"29`, 1))
		}, []Found{Earlier}},
		"a note by a clock behind, and an earlier state": {func(t *testing.T, d *db.DB, dir string, s state) {
			restore(t, d, s)
			writeNote(t, dir, strings.Replace(noteText(t, dir), `"seenAt":"20`, `"seenAt":"19`, 1))
		}, []Found{Earlier}},
		"a state of before identities": {func(t *testing.T, d *db.DB, _ string, s state) {
			s.identity = nil
			for _, row := range s.nodes {
				row[7] = int64(0)
			}
			restore(t, d, s)
		}, []Found{Other}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				dir := t.TempDir()
				m := boot(t, d, "a", dir)
				m.beat(t, 3)
				dumped := dump(t, d)
				m.shutDown(t)
				m.wants(t, "before")
				c.between(t, d, dir, dumped)
				again := boot(t, d, "a", dir)
				again.wants(t, name, c.want...)
				// Once said, it is known: by later heartbeats and starts too.
				again.beat(t, 2)
				again.shutDown(t)
				again.wants(t, name+", later", c.want...)
				boot(t, d, "a", dir).wants(t, name+", the next start")
			}, audit.Migrations, Migrations)
		})
	}
}

// A process that was killed may have noted a heartbeat whose commit a standby that
// took over does not have: one is no earlier state, two are.
func TestACommitThatIsLost(t *testing.T) {
	for lost, want := range map[int][]Found{0: nil, 1: nil, 2: {Earlier}, 3: {Earlier}} {
		dbtest.Each(t, func(t *testing.T, d *db.DB) {
			dir := t.TempDir()
			m := boot(t, d, "a", dir)
			m.beat(t, 3)
			s := dump(t, d)
			m.beat(t, lost)
			restore(t, d, s)
			boot(t, d, "a", dir).wants(t, fmt.Sprint(lost), want...)
		}, audit.Migrations, Migrations)
	}
}

// A database that is restored under running servers is noticed by the next heartbeat,
// also by the last one.
func TestARestoreUnderRunningNodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, b := boot(t, d, "a", t.TempDir()), boot(t, d, "b", t.TempDir())
		a.beat(t, 2)
		b.beat(t, 2)
		s := dump(t, d)
		a.beat(t, 2)
		b.beat(t, 2)
		restore(t, d, s)
		a.beat(t, 1)
		a.wants(t, "the first heartbeat", Earlier)
		b.shutDown(t)
		boot(t, d, "b", b.dir).wants(t, "the other node, after its stop")
		a.beat(t, 1)
		a.wants(t, "the second heartbeat", Earlier)

		restore(t, d, s)
		a.shutDown(t)
		a.wants(t, "the heartbeat of a stop", Earlier, Earlier)
	}, audit.Migrations, Migrations)
}

// Nodes that were stopped find one restore once: the first that starts notices, and
// the others find the database as the first left it, though they noted more.
func TestTwoNodesFindARestoreOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
		a, b := boot(t, d, "a", dirs["a"]), boot(t, d, "b", dirs["b"])
		s := dump(t, d)
		a.beat(t, 3)
		a.shutDown(t)
		b.beat(t, 30)
		b.shutDown(t)
		for range 2 { // the same dump, twice
			restore(t, d, s)
			a = boot(t, d, "a", dirs["a"])
			a.wants(t, "the first", Earlier)
			a.beat(t, 2)
			b = boot(t, d, "b", dirs["b"])
			b.beat(t, 2)
			b.wants(t, "the second")
			a.shutDown(t)
			b.shutDown(t)
		}
	}, audit.Migrations, Migrations)
}

// A node notices even where another, which had no note, ran on the restored database
// for longer than what is gone.
func TestANodeThatComesLateStillFindsTheRestore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := boot(t, d, "a", t.TempDir())
		s := dump(t, d)
		a.beat(t, 5)
		a.shutDown(t)
		restore(t, d, s)
		c := boot(t, d, "c", t.TempDir())
		c.beat(t, 50)
		c.wants(t, "a fresh folder")
		boot(t, d, "a", a.dir).wants(t, "the one that was there", Earlier)
	}, audit.Migrations, Migrations)
}

// What an ordinary cluster does never looks like a restore.
func TestOrdinaryLifeFindsNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, b := boot(t, d, "a", t.TempDir()), boot(t, d, "b", t.TempDir())
		all := []*machine{a, b}
		for round := range 3 { // rolling restarts, orderly and not
			for i := range all {
				all[i].beat(t, 2)
				if round%2 == 0 {
					all[i].shutDown(t)
				}
				all[1-i].beat(t, 2)
				was := all[i]
				all[i] = boot(t, d, was.o.NodeID, was.dir)
				was.wants(t, "before its restart")
			}
		}
		all = append(all, boot(t, d, "c", t.TempDir())) // a fresh folder
		copied := t.TempDir()                           // the folder of another machine
		writeNote(t, copied, noteText(t, a.dir))
		all = append(all, boot(t, d, "copy", copied))

		foreign := t.TempDir() // a folder from another cluster joins one that works
		writeNote(t, foreign, `{"database":"elsewhere","node":"a","beats":99999999}`)
		all = append(all, boot(t, d, "foreign", foreign))

		renamed := boot(t, d, "renamed", all[0].dir) // a container's new host name
		all = append(all, renamed)

		all[1].shutDown(t) // removed while it is away, as after a week
		all[2].beat(t, 1)
		must(t, d.Write(t.Context(), func(tx *db.Tx) error { return Remove(t.Context(), tx, "b") }))
		all = append(all, boot(t, d, "b", all[1].dir))
		for _, m := range all {
			m.wants(t, "at the end")
		}
	}, audit.Migrations, Migrations)
}

// A mark from outside is above what nodes noted of the state that is gone.
func TestLeapIsAboveAllNotes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := boot(t, d, "a", t.TempDir())
		s := dump(t, d)
		a.beat(t, 20)
		a.shutDown(t)
		restore(t, d, s)
		must(t, d.Write(t.Context(), func(tx *db.Tx) error { return Leap(t.Context(), tx) }))
		boot(t, d, "a", a.dir).wants(t, "marked")
	}, audit.Migrations, Migrations)
}

// A note that cannot be written keeps no node from working.
func TestANoteThatCannotBeWritten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		dir := t.TempDir()
		a := boot(t, d, "a", dir)
		must(t, os.Mkdir(filepath.Join(dir, noteFile+".tmp"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, noteFile+".tmp", "x"), nil, 0o600))
		before := noteText(t, dir)
		a.beat(t, 3)
		if noteText(t, dir) != before {
			t.Error("the note changed")
		}
		boot(t, d, "a", dir).wants(t, "an older note")
	}, audit.Migrations, Migrations)
}
