package loadtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Socket is a listening socket that a service manager holds.
type Socket struct {
	Name string // as LISTEN_FDNAMES has it
	File *os.File
}

// Hold listens at an address, for nodes that follow one another.
func Hold(name, address string) (Socket, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return Socket{}, err
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	return Socket{name, f}, err
}

// pass has the shell set LISTEN_PID to its own id, which is that of the program
// that it becomes.
func (p *Process) pass(cmd *exec.Cmd) {
	cmd.Args = append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`}, cmd.Args...)
	cmd.Path = "/bin/sh"
	var names []string
	for _, s := range p.Sockets {
		names = append(names, s.Name)
		cmd.ExtraFiles = append(cmd.ExtraFiles, s.File)
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("LISTEN_FDS=%d", len(names)), "LISTEN_FDNAMES="+strings.Join(names, ":"))
}

// AskForSuccessor sends SIGUSR2, on which the process starts a successor.
func (p *Process) AskForSuccessor() error { return p.process.Signal(syscall.SIGUSR2) }

// Succeed has a successor take over, and goes on with it as the process of p.
func (p *Process) Succeed(ctx context.Context) error {
	// The successor becomes a child of this process when its own parent ends.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := p.AskForSuccessor(); err != nil {
		return err
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		return fmt.Errorf("no successor: %w\n%s", ctx.Err(), p.Log())
	}
	lines, err := p.Lines("handed over")
	if err != nil || len(lines) == 0 || p.ExitCode() != 0 {
		return fmt.Errorf("the process ended with %d and did not hand over: %v\n%s", p.ExitCode(), err, p.Log())
	}
	next, err := os.FindProcess(lines[len(lines)-1].Process)
	if err != nil {
		return err
	}
	p.follow(next)
	return nil
}

// Line is one of the log.
type Line struct {
	Level, Msg, Error string
	Took              string // as time.Duration prints it
	Process           int    // that the line is about
}

// Lines returns the lines of the log with a message, of all processes so far.
func (p *Process) Lines(msg string) (lines []Line, err error) {
	b, err := os.ReadFile(p.file("outrigger.log"))
	if err != nil {
		return nil, err
	}
	all := bufio.NewScanner(bytes.NewReader(b))
	all.Buffer(nil, 1<<20)
	for all.Scan() {
		var line Line
		if json.Unmarshal(all.Bytes(), &line) == nil && line.Msg == msg {
			lines = append(lines, line)
		}
	}
	return lines, all.Err()
}
