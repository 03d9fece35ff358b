package acceptance

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/loadtest"
)

// TestFailedSync has syncs of the log and of the database file fail under a load
// of events, then cuts the power: the process ends at once, by itself, with the
// reason as the last thing that it says, and nothing acknowledged is missing.
func TestFailedSync(t *testing.T) {
	files := []string{"outrigger.db-wal", "outrigger.db"}
	round := 0
	powerRounds(t, max(2, cuts(t)/3), func(t *testing.T, n *powered, load *loadtest.Load) {
		stop := background(t, load, 0)
		defer stop()
		pass(t, 500*time.Millisecond)
		file := files[round%len(files)]
		round++
		n.disk.FailSync(file)
		select {
		case <-n.Exited():
		case <-time.After(90 * time.Second): // the log is moved into the file when it has 64 MiB
			t.Fatalf("the process goes on; %d syncs of %s have failed", n.disk.Failed(), file)
		}
		log := n.Log()
		lines := strings.Split(strings.TrimSpace(log), "\n")
		last := lines[len(lines)-1]
		if n.ExitCode() != 1 || !strings.Contains(log, `"level":"ERROR"`) || !strings.Contains(last, "start the server again") {
			t.Errorf("after a failed sync of %s the exit code is %d, and the last line %s", file, n.ExitCode(), last)
		}
	})
}
