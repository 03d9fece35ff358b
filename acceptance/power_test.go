package acceptance

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/powercut"
)

// cuts is how often the power is cut in each of these tests: TEST_CUTS, or 6.
func cuts(t *testing.T) int {
	t.Helper()
	text, ok := os.LookupEnv("TEST_CUTS")
	if !ok {
		return 6
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("TEST_CUTS: %v", err)
	}
	return n
}

// cutsOfADisk is after how many cuts a fresh disk is taken, so that the
// database stays small enough to be checked after each.
const cutsOfADisk = 20

// powered is a node whose data folder loses its power.
type powered struct {
	*loadtest.Process

	disk    *powercut.Disk
	unmount func() error
}

// poweredNode prepares a node with an empty data folder, without starting it.
func poweredNode(t *testing.T, s loadtest.Settings) *powered {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("the seed of the disk is %d", seed)
	s.DataDir = t.TempDir()
	n := &powered{disk: powercut.New(seed)}
	n.mount(t, s.DataDir)
	n.Process = node(t, s)
	// Before the folder is removed, and after the process is gone.
	t.Cleanup(func() {
		n.Kill()
		if n.unmount != nil {
			_ = n.unmount()
		}
	})
	return n
}

func (n *powered) mount(t *testing.T, folder string) {
	t.Helper()
	unmount, err := n.disk.Mount(folder)
	if err != nil {
		t.Fatal(err)
	}
	n.unmount = unmount
}

// cut ends the process, cuts the power and gives a copy of the folder as it is
// then. The process is not started again.
func (n *powered) cut(t *testing.T) (database string) {
	t.Helper()
	n.Kill()
	if err := n.unmount(); err != nil {
		t.Fatal(err)
	}
	n.unmount = nil
	n.disk.Cut()
	plain := t.TempDir()
	if err := n.disk.CopyTo(plain); err != nil {
		t.Fatal(err)
	}
	n.mount(t, n.Settings.DataDir)
	return filepath.Join(plain, "outrigger.db")
}

// stock asks the sqlite3 of the system, which recovers the log by itself.
func stock(t *testing.T, database, query string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sqlite3", "-batch", "-noheader", database, query)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("sqlite3: %v\n%s", err, stderr.String())
	}
	var lines []string
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// sound checks that stock SQLite finds a whole database, and removes it.
func sound(t *testing.T, database string) {
	t.Helper()
	if got := strings.Join(stock(t, database, "PRAGMA integrity_check"), "; "); got != "ok" {
		t.Errorf("integrity_check after the cut: %s", got)
	}
	os.RemoveAll(filepath.Dir(database))
}

// holds checks that stock SQLite finds a whole database with every
// acknowledged event in it, and removes it.
func holds(t *testing.T, database string, load *loadtest.Load) {
	t.Helper()
	defer sound(t, database)
	kept := map[string]bool{}
	for _, id := range stock(t, database, "SELECT request_id FROM notify_events WHERE request_id IS NOT NULL") {
		kept[id] = true
	}
	var missing []string
	acknowledged := load.RequestIDs()
	for _, id := range acknowledged {
		if !kept[id] {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		t.Errorf("after the cut %d of %d acknowledged events are missing: %s …", len(missing), len(acknowledged), missing[0])
	}
}

// TestPowerCut cuts the power under a load of events.
func TestPowerCut(t *testing.T) {
	powerRounds(t, cuts(t), func(t *testing.T, n *powered, load *loadtest.Load) {
		stop := background(t, load, 1500)
		pass(t, rand.N(time.Second))
		n.Kill()
		stop()
	})
}

// powerRounds runs a round and cuts the power after it, again and again. Stock
// SQLite finds every acknowledged event after each cut, and in the end all of
// them have arrived in order.
func powerRounds(t *testing.T, total int, round func(*testing.T, *powered, *loadtest.Load)) {
	const channels = 16
	for done := 0; done < total; done += cutsOfADisk {
		t.Run(fmt.Sprintf("from %d", done+1), func(t *testing.T) {
			sink := newSink(t, channels)
			n := poweredNode(t, loadtest.Settings{})
			start(t, n.Process)
			if err := n.SaveChannelRules(t.Context(), channels, sink.URL()); err != nil {
				t.Fatal(err)
			}
			load := loadtest.NewLoad(channels, channels, n.Addr())
			rounds := min(cutsOfADisk, total-done)
			for range rounds {
				round(t, n, load)
				holds(t, n.cut(t), load)
				start(t, n.Process)
			}
			await(t, load, sink, 2*time.Minute, rounds)
		})
	}
}

// TestPowerCutMail cuts the power under a load of mail: every message that got
// its 250 arrives, and arrives whole.
func TestPowerCutMail(t *testing.T) {
	const inFlight = 8 // mail.connections
	host, at := smarthostAt(t, 1_000_000)
	n := poweredNode(t, loadtest.Settings{MailListen: freeAddress(t), Smarthost: at})
	start(t, n.Process)
	mail := &mailLoad{addr: n.Settings.MailListen}
	stop := mail.run(t, 8)
	total := max(1, cuts(t)/2)
	for range total {
		pass(t, rand.N(time.Second))
		database := n.cut(t)
		sound(t, database)
		start(t, n.Process)
	}
	pass(t, 500*time.Millisecond)
	stop()
	until(t, 2*time.Minute, "messages still wait", func() bool { return mailStatus(t, n.Process) == sizes{} })
	mail.check(t, host, total*inFlight)
}

// TestPowerCutMigration cuts the power while files are sent, read and
// processed: the command that migrates goes on by itself, and what comes of it
// is what the files say.
func TestPowerCutMigration(t *testing.T) {
	n := poweredNode(t, loadtest.Settings{})
	start(t, n.Process)
	f := newFolder(t)
	f.must(0, "empty.gz", n.Process, "backup", "--out", "empty.gz")
	left := max(1, cuts(t)/2)
	for round := uint64(1); left > 0; round++ {
		model := f.migrationFiles(20_000, round)
		f.write("hierarchy.json", strings.Repeat(" ", 20<<20)+f.read("hierarchy.json")) // so that sending takes a moment
		migrate := f.begin(n.Process, "migrate", "--hierarchy", "hierarchy.json", "--mappings", "mappings.csv")
		for first := true; left > 0 && migrate.moment(t, n.Process, first); left, first = left-1, false {
			sound(t, n.cut(t))
			if err := n.Spawn(); err != nil {
				t.Fatal(err)
			}
		}
		if e := migrate.end(); e.code != exitLook {
			t.Fatalf("migrate: %v", e)
		}
		f.must(exitLook, "Missing\t0", n.Process, "verify")
		f.sameErrors(n.Process, model.Reasons)
		sameMaps(t, f.backup(n.Process, "backup.gz"), model.Maps)
		f.must(0, "IDLE, EMPTY", n.Process, "reset", "--yes")
		f.must(0, "restored", n.Process, "restore", "--in", "empty.gz", "--mode", "replace", "--yes")
	}
}
