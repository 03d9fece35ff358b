package acceptance

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"outrigger/internal/loadtest"
)

// TestFailedSync has a sync fail under a load of events: of the log in a
// commit, of the database file when the log is moved into it, and of the
// database file at the start after a crash. Each time the process says so and
// ends by itself; the power that is cut afterwards takes nothing acknowledged
// with it.
func TestFailedSync(t *testing.T) {
	kinds := []func(*testing.T, *powered, *loadtest.Load){failInCommit, failInStart, failInCheckpoint}
	i := 0
	powerRounds(t, max(3, cuts(t)/3), func(t *testing.T, n *powered, load *loadtest.Load) {
		kinds[i%len(kinds)](t, n, load)
		i++
	})
}

func failInCommit(t *testing.T, n *powered, load *loadtest.Load) {
	stop := background(t, load, 1500)
	pass(t, rand.N(500*time.Millisecond))
	n.disk.FailSync("-wal")
	endsByItself(t, n)
	stop()
}

func failInCheckpoint(t *testing.T, n *powered, load *loadtest.Load) {
	n.disk.FailSync(".db")
	stop := background(t, load, 0) // fills the log
	endsByItself(t, n)
	stop()
}

func failInStart(t *testing.T, n *powered, load *loadtest.Load) {
	stop := background(t, load, 1500)
	pass(t, rand.N(500*time.Millisecond))
	n.Kill()
	n.disk.FailSync(".db")
	if err := n.Spawn(); err != nil {
		t.Fatal(err)
	}
	endsByItself(t, n)
	stop()
}

// endsByItself waits until a sync has failed and the process has ended for it.
func endsByItself(t *testing.T, n *powered) {
	t.Helper()
	before := n.disk.Failed()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case <-n.Exited():
	case <-ctx.Done():
		t.Fatalf("%d syncs failed, and the process goes on", n.disk.Failed()-before)
	}
	log := n.Log()
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if last := lines[len(lines)-1]; n.ExitCode() != 1 || !strings.Contains(last, "start the server again") {
		t.Errorf("the exit code is %d, and the last line %s", n.ExitCode(), last)
	}
}
