package acceptance

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver that the program uses

	"outrigger/internal/loadtest"
)

// kills is how often a node is killed: TEST_KILLS, or 10.
func kills(t *testing.T) int {
	t.Helper()
	text, ok := os.LookupEnv("TEST_KILLS")
	if !ok {
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("TEST_KILLS: %v", err)
	}
	return n
}

// TestKill kills a node under load again and again, at random moments, while
// it starts too. Afterwards every event that was acknowledged has arrived, in
// order, and no channel saw more than one repeat for each kill.
func TestKill(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			const channels = 32
			sink := newSink(t, channels)
			p := node(t, loadtest.Settings{DatabaseURL: database(t), NodeID: "node_1"})
			start(t, p)
			saveMixedRules(t, p, channels, sink)
			load := loadtest.NewLoad(channels, channels, p.Addr())
			stop := background(t, load, 0)
			total := kills(t)
			killAgain(t, p, total)
			stop()
			await(t, load, sink, 2*time.Minute, total)
			p.Kill()
			if p.Settings.DatabaseURL == "" {
				checkIntegrity(t, filepath.Join(p.Settings.Dir, "outrigger.db"))
			}
		})
	}
}

// killAgain kills a node that many times, at random moments within 1.5 s of each
// other, and then lets it run for a second.
func killAgain(t *testing.T, p *loadtest.Process, times int) {
	t.Helper()
	for range times {
		pass(t, rand.N(1500*time.Millisecond))
		p.Kill()
		if err := p.Spawn(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	if err := p.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	pass(t, time.Second)
}

// checkIntegrity asks SQLite itself what it thinks of a file.
func checkIntegrity(t *testing.T, path string) {
	t.Helper()
	d, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for query, want := range map[string]string{
		"SELECT group_concat(integrity_check, '; ') FROM pragma_integrity_check": "ok",
		"SELECT count(*) FROM pragma_foreign_key_check":                          "0",
	} {
		var got string
		if err := d.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", query, got, err, want)
		}
	}
}

// TestRestart stops a node in order under load, and starts it again: nothing
// is lost, and nothing repeated either.
func TestRestart(t *testing.T) {
	t.Parallel()
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			const channels = 32
			sink := newSink(t, channels)
			p := node(t, loadtest.Settings{DatabaseURL: database(t), NodeID: "node_1"})
			start(t, p)
			if err := p.SaveChannelRules(t.Context(), channels, sink.URL()); err != nil {
				t.Fatal(err)
			}
			load := loadtest.NewLoad(channels, channels, p.Addr())
			stop := background(t, load, 0)
			for range 3 {
				pass(t, time.Second)
				took, err := p.Stop()
				if err != nil {
					t.Fatal(err)
				}
				if took > stopTime {
					t.Errorf("stopping took %s", took)
				}
				start(t, p)
			}
			pass(t, time.Second)
			stop()
			await(t, load, sink, time.Minute, 0)
		})
	}
}

// stopTime is what all steps of a stop may take together.
const stopTime = 15 * time.Second
