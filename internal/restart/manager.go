package restart

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// extendEvery is how often the service manager hears that a start or a stop
	// goes on; each time it is given until extendBy from then.
	extendEvery = 5 * time.Second
	extendBy    = 30 * time.Second
	// tellTime is how long the service manager may leave what it is told unread.
	tellTime = time.Second
)

// Manager is the service manager that this process runs under, told of its
// states as sd_notify(3) does. Without one, nothing happens.
type Manager struct {
	socket   string        // empty: none
	watchdog time.Duration // 0: it does not watch
}

func newManager() *Manager {
	m := &Manager{socket: unset("NOTIFY_SOCKET")}
	usec, pid := unset("WATCHDOG_USEC"), unset("WATCHDOG_PID")
	if n, err := strconv.Atoi(usec); err == nil && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		m.watchdog = time.Duration(n) * time.Microsecond
	}
	return m
}

// environment returns the variables by which a successor knows the service manager.
func (m *Manager) environment() (env []string) {
	if m.socket != "" {
		env = append(env, "NOTIFY_SOCKET="+m.socket)
	}
	if m.watchdog > 0 {
		env = append(env, "WATCHDOG_USEC="+strconv.FormatInt(m.watchdog.Microseconds(), 10))
	}
	return env
}

// tell sends assignments, such as READY=1. Errors are ignored: what is lost is no reason
// to stop.
func (m *Manager) tell(lines ...string) {
	if m.socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: m.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(tellTime))
	_, _ = conn.Write([]byte(strings.Join(lines, "\n")))
}

// Ready says that the process serves at url.
func (m *Manager) Ready(url string) { m.tell("READY=1", "STATUS=Serving at "+url) }

// Reloading says that the configuration is read again. Ready ends that.
func (m *Manager) Reloading() {
	m.tell("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", monotonic().Microseconds()), "STATUS=Reading the configuration again")
}

// Stopping says that the process ends.
func (m *Manager) Stopping() { m.tell("STOPPING=1", "STATUS=Stopping") }

// Succeeded says that another process serves from now on.
func (m *Manager) Succeeded(pid int, url string) {
	m.tell("MAINPID="+strconv.Itoa(pid), "READY=1", "STATUS=Serving at "+url)
}

// Starting has a start take the time that it needs, until ctx ends: a schema
// change may take minutes.
func (m *Manager) Starting(ctx context.Context) {
	m.tell("STATUS=Starting")
	m.every(ctx, extendEvery, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", extendBy.Microseconds()))
}

// Watchdog says that the process lives, until ctx ends, twice in the time after
// which the service manager would end it.
func (m *Manager) Watchdog(ctx context.Context) {
	if m.watchdog > 0 {
		m.every(ctx, m.watchdog/2, "WATCHDOG=1")
	}
}

// every tells the line now, and after each pause, until ctx ends.
func (m *Manager) every(ctx context.Context, pause time.Duration, line string) {
	if m.socket == "" {
		return
	}
	go func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			m.tell(line)
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
}
