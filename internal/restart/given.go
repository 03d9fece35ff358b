package restart

import (
	"os"
	"strconv"

	"outrigger/internal/fault"
)

// firstDescriptor is the first of those that are passed: sd_listen_fds(3).
const firstDescriptor = 3

// predecessorVariable says that the process before passes the sockets: it
// cannot know the LISTEN_PID of its child. Its value is its own id.
const predecessorVariable = "OUTRIGGER_PREDECESSOR"

// Given is what a process was started with.
type Given struct {
	Sockets     *Sockets
	Manager     *Manager     // the service manager, where there is one
	Predecessor *Predecessor // nil: nothing is taken over from a running process
}

// Receive takes what the service manager or the predecessor passed, by the
// variables LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES, NOTIFY_SOCKET and
// WATCHDOG_USEC, and unsets these: they are not meant for processes that this
// one starts. The error is a sentence about what was passed.
func Receive() (Given, error) {
	g := Given{Sockets: NewSockets(), Manager: newManager()}
	fds, pid, names := unset("LISTEN_FDS"), unset("LISTEN_PID"), unset("LISTEN_FDNAMES")
	predecessor := unset(predecessorVariable)
	if fds == "" || predecessor == "" && pid != strconv.Itoa(os.Getpid()) {
		return g, nil // nothing was passed, or not to this process
	}
	count, err := strconv.Atoi(fds)
	if err != nil || count < 0 {
		return g, fault.New(fault.Invalid, "LISTEN_FDS is %q; it must be the number of sockets that are passed.", fds)
	}
	if predecessor != "" {
		g.Predecessor = newPredecessor(predecessor, firstDescriptor+count)
	}
	if err := g.Sockets.take(firstDescriptor, count, names); err != nil {
		g.Sockets.Close()
		return g, err
	}
	return g, nil
}

// unset takes a variable out of the environment.
func unset(name string) string {
	value := os.Getenv(name)
	os.Unsetenv(name)
	return value
}
