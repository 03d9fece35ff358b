// Package loadtest drives the program from outside: it builds the ordinary
// binary, runs it as a child process and kills it, posts signed webhooks at
// it and records what comes out at a chat platform that it plays. What was
// acknowledged is then held against what arrived.
//
// It imports nothing of the program, so that it measures what users get.
package loadtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Build compiles the program into dir, as a release does, and gives its path.
func Build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "outrigger")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "outrigger/cmd/outrigger")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// Process is one node: a child process that can be killed and started again
// with the same data, on the same port.
type Process struct {
	Settings Settings

	// Sockets are passed to each process as a service manager does.
	Sockets []Socket

	binary  string
	port    int
	process *os.Process
	exited  chan struct{}    // closed when it has ended
	state   *os.ProcessState // then
}

// New prepares a node that runs binary, without starting it. Settings.Dir
// must exist.
func New(binary string, s Settings) (*Process, error) {
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	p := &Process{Settings: s, binary: binary, port: port}
	if err := os.WriteFile(p.file("outrigger.yaml"), []byte(s.yaml(p.Addr())), 0o600); err != nil {
		return nil, fmt.Errorf("write settings: %w", err)
	}
	return p, nil
}

// Configuration is the path of the node's configuration file.
func (p *Process) Configuration() string { return p.file("outrigger.yaml") }

// Addr is the host and port that the node listens on.
func (p *Process) Addr() string { return fmt.Sprintf("127.0.0.1:%d", p.port) }

// PID is the id of the running process.
func (p *Process) PID() int { return p.process.Pid }

// Start runs the node and waits until it is ready. It gives the time from the
// start of the process to its first ready answer.
func (p *Process) Start(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	if err := p.Spawn(); err != nil {
		return 0, err
	}
	if err := p.Ready(ctx); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

// Spawn starts the process and does not wait for anything.
func (p *Process) Spawn() error {
	log, err := os.OpenFile(p.file("outrigger.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(p.binary, "serve", "--config", p.file("outrigger.yaml"))
	cmd.Env = environment()
	if len(p.Sockets) > 0 {
		p.pass(cmd)
	}
	cmd.Dir = p.Settings.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // outlives no test that crashed
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.binary, err)
	}
	p.follow(cmd.Process)
	return nil
}

// follow has the node be a process that runs.
func (p *Process) follow(process *os.Process) {
	exited := make(chan struct{})
	p.process, p.exited = process, exited
	go func() {
		defer close(exited)
		state, err := process.Wait()
		if err == nil {
			p.state = state
		}
	}()
}

// readyPoll is how often readiness is asked: fine enough for a start that
// should take under 300 ms.
const readyPoll = 2 * time.Millisecond

// Ready waits until /readyz answers 200. It fails at once, with the end of
// the log, when the process ends instead.
func (p *Process) Ready(ctx context.Context) error {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		resp, err := client.Get("http://" + p.Addr() + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-p.exited:
			return fmt.Errorf("the process ended before it was ready (%v):\n%s", p.state, p.Log())
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w\n%s", ctx.Err(), p.Log())
		}
	}
}

// Kill ends the process as kill -9 does and waits until it is gone. A process
// that does not run is no error.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

// Stop asks the process to end as service managers do, and gives how long
// that took.
func (p *Process) Stop() (time.Duration, error) {
	began := time.Now()
	p.end(syscall.SIGTERM)
	if code := p.state.ExitCode(); code != 0 {
		return 0, fmt.Errorf("exit code %d:\n%s", code, p.Log())
	}
	return time.Since(began), nil
}

func (p *Process) end(with syscall.Signal) {
	if p.process == nil {
		return
	}
	p.process.Signal(with) // fails only where it has ended already
	<-p.exited
}

// Exited is closed when the process has ended; ExitCode says how.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// ExitCode is that of a process that has ended, -1 where a signal ended it.
func (p *Process) ExitCode() int { return p.state.ExitCode() }

// Log is the last of what the process wrote.
func (p *Process) Log() string {
	b, err := os.ReadFile(p.file("outrigger.log"))
	if err != nil {
		return err.Error()
	}
	const enough = 4 << 10
	if len(b) > enough {
		b = b[len(b)-enough:]
	}
	return string(b)
}

func (p *Process) file(name string) string { return filepath.Join(p.Settings.Dir, name) }

// environment is this process's without what would configure the child.
func environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "OUTRIGGER_") {
			env = append(env, kv)
		}
	}
	return env
}

// given are the ports that FreePort has found: some are of nodes that are not
// started yet, or down.
var given sync.Map

// FreePort finds a port of 127.0.0.1 below the range that the kernel gives to
// outgoing connections, and another one each time, so that nothing else takes it
// before it is listened at, or while a node is down.
func FreePort() (int, error) {
	for range 100 {
		port := 10000 + rand.IntN(10000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return 0, err
		}
		if _, before := given.LoadOrStore(port, true); !before {
			return port, nil
		}
	}
	return 0, errors.New("no free port between 10000 and 20000")
}
