package restart

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"outrigger/internal/fault"
)

// readyPatience is how long a successor may take to read its settings, on a
// machine that is busy with other things. Nothing is refused meanwhile.
const readyPatience = 20 * time.Second

// Successor is the process that is to take over.
type Successor struct {
	cmd     *exec.Cmd
	to      io.WriteCloser
	said    chan string // closed when it has ended or says no more
	ended   chan struct{}
	sockets *Sockets
	added   []string // of sockets: kept for it
}

// Begin starts the program that this process was started from, or what has its
// place by now, with the same arguments, and passes the sockets to it.
func Begin(sockets *Sockets, manager *Manager) (*Successor, error) {
	if os.Getpid() == 1 {
		return nil, fault.New(fault.Conflict, "This process is the first of its container, which ends with it: restart the container instead.")
	}
	program, err := exec.LookPath(os.Args[0])
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	s := &Successor{cmd: exec.Command(program, os.Args[1:]...), sockets: sockets, said: make(chan string), ended: make(chan struct{})}
	if s.added, err = sockets.keep(); err != nil {
		return nil, err
	}
	if err := s.start(manager); err != nil {
		sockets.release(s.added)
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return s, nil
}

func (s *Successor) start(manager *Manager) error {
	theirs, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	from, answers, err := os.Pipe()
	if err != nil {
		to.Close()
		return err
	}
	defer answers.Close()
	names, files := s.sockets.files()
	s.cmd.ExtraFiles = append(files, theirs, answers)
	s.cmd.Env = append(os.Environ(), manager.environment()...)
	s.cmd.Env = append(s.cmd.Env, "LISTEN_FDS="+strconv.Itoa(len(names)), "LISTEN_FDNAMES="+strings.Join(names, ":"),
		predecessorVariable+"="+strconv.Itoa(os.Getpid()))
	s.cmd.Stdout, s.cmd.Stderr = os.Stdout, os.Stderr
	if err := s.cmd.Start(); err != nil {
		to.Close()
		from.Close()
		return err
	}
	s.to = to
	go func() {
		defer from.Close()
		defer close(s.said)
		for lines := bufio.NewScanner(from); lines.Scan(); {
			s.said <- lines.Text()
		}
	}()
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // its state is in ProcessState
	}()
	return nil
}

// ID is that of the process.
func (s *Successor) ID() int { return s.cmd.Process.Pid }

// AwaitReady returns when the successor is ready to take over. With an error it
// has ended, and nothing has changed.
func (s *Successor) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	err := s.await(ctx, sayHello)
	if err == nil {
		err = s.await(ctx, sayReady)
	}
	if err != nil {
		s.Discard()
	}
	return err
}

// Release tells the successor that the database is free.
func (s *Successor) Release() { _, _ = fmt.Fprintln(s.to, sayGo) } // where it has ended, AwaitServing says so

// AwaitServing returns when the successor serves. With an error other than that
// of ctx it has ended, and let go of the database.
func (s *Successor) AwaitServing(ctx context.Context) error { return s.await(ctx, sayServing) }

// Stop asks the successor to end, and waits until it has.
func (s *Successor) Stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // fails where it has ended
	s.drain()
}

// Discard ends the successor at once. Sockets that were kept for it are not any
// longer.
func (s *Successor) Discard() {
	_ = s.cmd.Process.Kill() // fails where it has ended
	s.drain()
	s.sockets.release(s.added)
}

func (s *Successor) drain() {
	s.to.Close()
	for range s.said {
	}
	<-s.ended
}

// await returns when the successor has said line.
func (s *Successor) await(ctx context.Context, line string) error {
	select {
	case said, more := <-s.said:
		if more && said == line {
			return nil
		}
	case <-ctx.Done():
		if context.Cause(ctx) == context.DeadlineExceeded {
			return fault.New(fault.Unavailable, "The successor (process %d, %s) was not ready to take over within %s. Is it Outrigger?", s.ID(),
				s.cmd.Path, readyPatience)
		}
		return ctx.Err()
	}
	_ = s.cmd.Process.Kill() // in case it only says no more
	s.drain()
	if line == sayHello {
		return fault.New(fault.Unavailable, "The successor (process %d, %s) ended (%s) and does not know how to take over from a running "+
			"process: is it an older Outrigger, or another program? Stop this process and start that one.", s.ID(), s.cmd.Path, s.cmd.ProcessState)
	}
	return fault.New(fault.Unavailable, "The successor (process %d, %s) ended (%s) before it could take over; it wrote why.", s.ID(),
		s.cmd.Path, s.cmd.ProcessState)
}
