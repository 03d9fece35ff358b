package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"outrigger/internal/loadtest"
	"outrigger/internal/work"
)

// node starts a node with a fresh data folder.
func (b *bench) node(ctx context.Context, s loadtest.Settings) *loadtest.Process {
	s.Dir = must(os.MkdirTemp(b.dir, "node-"))
	p := must(loadtest.New(b.binary, s))
	b.atEnd(p.Kill)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	must(p.Start(ctx))
	return p
}

// postgresNode are the settings of a node on a database of the server of
// TEST_POSTGRES_URL; false where there is none, which is said of what.
func (b *bench) postgresNode(ctx context.Context, what string) (s loadtest.Settings, ok bool) {
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		b.row(what, "not measured: TEST_POSTGRES_URL is not set", "")
		return s, false
	}
	u := must(url.Parse(server))
	u.Path = "/bench_" + strings.ToLower(rand.Text())
	statement := func(sql string) error {
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, sql)
		return err
	}
	check(statement("CREATE DATABASE " + u.Path[1:]))
	b.atEnd(func() {
		if err := statement("DROP DATABASE " + u.Path[1:] + " WITH (FORCE)"); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	})
	return loadtest.Settings{DatabaseURL: u.String(), NodeID: "bench"}, true
}

// sink starts a chat platform.
func (b *bench) sink(channels int) *loadtest.Sink {
	sink := must(loadtest.NewSink(channels))
	b.atEnd(sink.Close)
	return sink
}

// program starts another program, which listens at addr, and gives its process id.
func (b *bench) program(ctx context.Context, addr, name string, args ...string) (pid int) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	check(cmd.Start())
	b.atEnd(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	listening(ctx, addr)
	return cmd.Process.Pid
}

// self starts this program as a process of its own, as nodes are, that does what
// args say and listens at addr.
func (b *bench) self(ctx context.Context, addr string, args ...string) (pid int) {
	return b.program(ctx, addr, must(os.Executable()), args...)
}

func freeAddress() string { return fmt.Sprintf("127.0.0.1:%d", must(loadtest.FreePort())) }

// dialPause keeps waiting for a program from taking the processor that it starts on.
const dialPause = 10 * time.Millisecond

// listening waits until addr accepts connections, for 10 s at most.
func listening(ctx context.Context, addr string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			check(err)
			conn.Close()
			return
		}
		check(work.Sleep(ctx, dialPause))
	}
}
