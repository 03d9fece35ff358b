package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"outrigger/internal/app"
	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/diagnosis"
	"outrigger/internal/restart"
)

// configFlag is --config of every command that reads the settings.
type configFlag struct {
	Config string `help:"The YAML configuration file." env:"OUTRIGGER_CONFIG" placeholder:"FILE"`
}

// loadConfig reads the settings with the environment of this process over the
// file and flags over both, and writes warnings to standard error.
func loadConfig(s streams, file string, flags map[string]string) (*config.Config, error) {
	cfg, warnings, err := config.Load(file, os.Environ(), flags)
	for _, w := range warnings {
		fmt.Fprintln(s.err, "outrigger: warning:", w)
	}
	return cfg, err
}

type serveCmd struct {
	configFlag
	Listen listenAddress `help:"Host and port to listen on; overrides the setting listen." placeholder:"ADDR"`
	Data   string        `help:"The data folder; overrides the setting data_dir." placeholder:"DIR"`

	NewDatabase      bool `xor:"database" help:"Create an empty database even though the data folder is that of another."`
	ExistingDatabase bool `xor:"database" help:"Do not start where there is no database yet, such as in a folder that is not mounted."`
	Hold             bool `help:"Send nothing until an administrator confirms it, with outrigger backup confirm."`
}

// listenAddress is a value of --listen.
type listenAddress string

// Validate has a wrong one be a mistake in the arguments.
func (a listenAddress) Validate() error {
	if a == "" {
		return nil
	}
	return config.CheckListen(string(a))
}

func (c serveCmd) Run(ctx context.Context, s streams) error {
	limitMemory()
	given, err := restart.Receive()
	if err != nil {
		return err
	}
	defer given.Sockets.Close()
	cfg, warnings, err := c.load()
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	level.Set(app.LogLevel(cfg.Log))
	out := &endable{w: s.out, recent: new(diagnosis.Lines)}
	log := app.NewLogger(cfg.Log, level, out)
	for _, w := range warnings {
		log.Warn(w)
	}
	err = (&server{command: c, given: given, cfg: cfg, level: level, log: log, recent: out.recent}).run(ctx)
	if errors.Is(err, db.ErrDisk) {
		out.end() // work is under way still, and the reason is to be the last line
	}
	return err
}

// endable is a log that ends before the process does.
type endable struct {
	mu     sync.Mutex
	w      io.Writer
	recent *diagnosis.Lines // for a diagnosis
	ended  bool
}

func (e *endable) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return len(p), nil
	}
	_, _ = e.recent.Write(p) // it never fails
	return e.w.Write(p)
}

// Fd is that of a file below, so that a terminal is known for one. It is no
// descriptor at all where there is none.
func (e *endable) Fd() uintptr {
	if f, ok := e.w.(*os.File); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

func (e *endable) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
}

func (c serveCmd) load() (*config.Config, []string, error) {
	return config.Load(c.Config, os.Environ(), map[string]string{"listen": string(c.Listen), "data_dir": c.Data})
}

// process is what runApp runs: an app, or a demo around one.
type process interface {
	Start(context.Context) error
	Stop(context.Context) error
	Failed() <-chan error
	URL() string
}

// runApp starts a, calls ready, and stops it when ctx ends or it cannot go on.
func runApp(ctx context.Context, a process, log *slog.Logger, ready func()) error {
	if started, err := startApp(ctx, a, log); !started {
		return err
	}
	ready()
	var failure error
	select {
	case <-ctx.Done():
	case failure = <-a.Failed():
	}
	return stopApp(ctx, a, log, failure)
}

// startApp starts a. That it was asked to end before it was ready is no failure.
func startApp(ctx context.Context, a process, log *slog.Logger) (started bool, err error) {
	began := time.Now()
	if err := a.Start(ctx); err != nil {
		if ctx.Err() != nil {
			return false, nil
		}
		return false, err
	}
	// The first start hashes a password, which takes 19 MiB; what a start took
	// goes back to the system at once, and not minutes later.
	debug.FreeOSMemory()
	log.Info("ready", "url", a.URL(), "version", version, "took", time.Since(began))
	return true, nil
}

// stopApp stops a, because of a failure where there is one. When the disk failed
// it leaves everything as it is, for main to end the process.
func stopApp(ctx context.Context, a process, log *slog.Logger, failure error) error {
	if failure != nil {
		log.Error("fatal error, stopping", "error", failure)
	}
	if errors.Is(failure, db.ErrDisk) {
		return failure // at once: nothing that a stop does could be saved
	}
	log.Info("stopping")
	began := time.Now()
	// ctx has ended; a stop bounds itself.
	err := a.Stop(context.WithoutCancel(ctx))
	if errors.Is(err, db.ErrDisk) {
		log.Error("the disk failed while stopping", "error", err)
		return err
	}
	if err != nil {
		log.Warn("shutdown was not clean", "error", err)
	}
	if failure == nil && errors.Is(err, db.ErrMoved) {
		failure = err // what was written last may be lost
	}
	log.Info("stopped", "took", time.Since(began))
	return failure
}
