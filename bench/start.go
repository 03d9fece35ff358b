package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/work"
)

// atEnd has something done when the present measurement is over.
func (b *bench) atEnd(do func()) { b.ends = append(b.ends, do) }

// end ends what the present measurement started, the last first.
func (b *bench) end() {
	for len(b.ends) > 0 {
		last := len(b.ends) - 1
		b.ends[last]()
		b.ends = b.ends[:last]
	}
}

// node starts a node with a fresh data folder.
func (b *bench) node(ctx context.Context, s loadtest.Settings) (*loadtest.Process, error) {
	dir, err := os.MkdirTemp(b.dir, "node-")
	if err != nil {
		return nil, err
	}
	s.Dir = dir
	p, err := loadtest.New(b.binary, s)
	if err != nil {
		return nil, err
	}
	b.atEnd(p.Kill)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err = p.Start(ctx)
	return p, err
}

// sink starts a chat platform.
func (b *bench) sink(channels int) (*loadtest.Sink, error) {
	sink, err := loadtest.NewSink(channels)
	if err == nil {
		b.atEnd(sink.Close)
	}
	return sink, err
}

// receiver starts a node that has a rule for each channel of its load.
func (b *bench) receiver(ctx context.Context, s loadtest.Settings, channels int) (*loadtest.Process, *subject, error) {
	sink, err := b.sink(channels)
	if err != nil {
		return nil, nil, err
	}
	p, err := b.node(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	load := loadtest.NewLoad(channels, connections, p.Addr())
	return p, &subject{load: load, sink: sink, pid: p.PID()}, p.SaveChannelRules(ctx, channels, sink.URL())
}

// program starts another program, which listens at addr, and gives its process id.
func (b *bench) program(ctx context.Context, addr, name string, args ...string) (pid int, err error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	b.atEnd(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid, listening(ctx, addr)
}

// self starts this program as a process of its own, as nodes are, that does what
// args say and listens at the address that is the first of them.
func (b *bench) self(ctx context.Context, what string, args ...string) (pid int, err error) {
	name, err := os.Executable()
	if err != nil {
		return 0, err
	}
	pid, err = b.program(ctx, args[0], name, append([]string{what}, args...)...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return pid, nil
}

func freeAddress() (string, error) {
	port, err := loadtest.FreePort()
	return fmt.Sprintf("127.0.0.1:%d", port), err
}

// dialPause keeps waiting for a program from taking the processor that it starts on.
const dialPause = 10 * time.Millisecond

// listening waits until addr accepts connections, for 10 s at most.
func listening(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return err
		}
		if err := work.Sleep(ctx, dialPause); err != nil {
			return err
		}
	}
}
