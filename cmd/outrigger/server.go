package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"outrigger/internal/app"
	"outrigger/internal/config"
	"outrigger/internal/diagnosis"
	"outrigger/internal/restart"
)

// server is what serve runs: an app, and after a restart that failed another one
// in its place.
type server struct {
	command serveCmd
	given   restart.Given
	cfg     *config.Config
	level   *slog.LevelVar
	log     *slog.Logger
	recent  *diagnosis.Lines

	hangUp, successor chan os.Signal
	prepared          chan *restart.Successor // one that waits to take over
	succession        atomic.Int32            // notReady, mayBegin or underWay
	preparing         sync.WaitGroup
}

// Whether a successor may be asked for.
const (
	notReady int32 = iota // the server starts
	mayBegin
	underWay
)

// run serves until ctx ends, the app fails, or a successor serves.
func (s *server) run(ctx context.Context) error {
	s.hangUp, s.successor, s.prepared = make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan *restart.Successor)
	signal.Notify(s.hangUp, syscall.SIGHUP)
	restart.Notify(s.successor)
	defer signal.Stop(s.hangUp)
	defer signal.Stop(s.successor)
	defer s.preparing.Wait() // a successor that has not taken over ends with this process
	running, stop := context.WithCancel(ctx)
	defer stop()
	s.preparing.Go(func() { s.prepareSuccessors(running) })
	s.given.Manager.Watchdog(running)
	for {
		c := s.command
		o := app.Options{
			Log: s.log, Version: version, Commit: builtFrom(), NewDatabase: c.NewDatabase, ExistingDatabase: c.ExistingDatabase, Hold: c.Hold,
			Sockets: s.given.Sockets, Reload: c.load, Level: s.level, Recent: s.recent,
		}
		if p := s.given.Predecessor; p != nil {
			o.Wait = p.TakeOver
		}
		a, err := app.New(s.cfg, o)
		if err != nil {
			return err
		}
		if again, err := s.serve(ctx, a); !again || err != nil {
			return err
		}
		s.cfg = a.Config()
		s.given.Predecessor = nil
	}
}

// serve runs a until it has stopped. It reports whether another app is to be run: a
// successor failed after a had stopped for it, or a must not send.
func (s *server) serve(ctx context.Context, a *app.App) (again bool, err error) {
	if started, err := s.start(ctx, a); !started {
		return false, err
	}
	for {
		select {
		case <-s.hangUp:
			s.given.Manager.Reloading()
			if _, err := a.Reload(ctx); err != nil {
				s.log.Error("the configuration was not read again", "error", err)
			}
			s.given.Manager.Ready(a.URL())
		case next := <-s.prepared:
			return !s.handOver(ctx, a, next), nil
		case <-ctx.Done():
			s.given.Manager.Stopping()
			return false, stopApp(ctx, a, s.log, nil)
		case failure := <-a.Failed():
			if errors.Is(failure, app.ErrHeld) {
				return true, s.stopToHold(ctx, a, failure)
			}
			s.given.Manager.Stopping()
			return false, stopApp(ctx, a, s.log, failure)
		}
	}
}

// stopToHold stops a, after which another is started that sends nothing.
func (s *server) stopToHold(ctx context.Context, a *app.App, failure error) error {
	if err := s.given.Sockets.Keep(); err != nil {
		s.log.Warn("the port is closed for a moment", "error", err)
	}
	if err := stopApp(ctx, a, s.log, failure); !errors.Is(err, app.ErrHeld) {
		return err
	}
	s.log.Info("starting again, to send nothing until an administrator confirms it")
	return nil
}

// start starts a, and tells the service manager that it serves. Where there is a
// predecessor, that one does so, since the manager listens to no other process.
func (s *server) start(ctx context.Context, a *app.App) (started bool, err error) {
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.given.Predecessor == nil {
		s.given.Manager.Starting(starting)
	}
	if started, err = startApp(ctx, a, s.log); !started {
		return false, err
	}
	s.succession.CompareAndSwap(notReady, mayBegin)
	if p := s.given.Predecessor; p != nil {
		p.Serving()
	} else {
		s.given.Manager.Ready(a.URL())
	}
	return true, nil
}

// prepareSuccessors starts a successor when it is asked to, one at a time.
func (s *server) prepareSuccessors(ctx context.Context) {
	for {
		select {
		case <-s.successor:
			if !s.succession.CompareAndSwap(mayBegin, underWay) {
				s.log.Warn("SIGUSR2 was ignored: the server is starting, or a restart is under way")
				continue
			}
			s.preparing.Go(func() { s.prepare(ctx) })
		case <-ctx.Done():
			return
		}
	}
}

// prepare starts a successor, and has it take over once it is ready; until then nothing
// has changed.
func (s *server) prepare(ctx context.Context) {
	next, err := restart.Begin(s.given.Sockets, s.given.Manager)
	if err == nil {
		s.log.Info("started the successor", "process", next.ID())
		err = next.AwaitReady(ctx)
	}
	if err != nil {
		s.succession.Store(mayBegin)
		s.log.Error("the restart failed; this process goes on serving", "error", err)
		return
	}
	select {
	case s.prepared <- next:
	case <-ctx.Done():
		next.Discard()
	}
}

// handOver stops a for the successor. It reports whether this process is to end, which it
// is not if the successor failed.
func (s *server) handOver(ctx context.Context, a *app.App, next *restart.Successor) bool {
	began := time.Now()
	s.log.Info("handing over to the successor", "process", next.ID())
	free, err := a.HandOver(context.WithoutCancel(ctx))
	if err != nil {
		s.log.Warn("the stop for the successor was not clean", "error", err)
	}
	s.log.Info("stopped for the successor", "took", time.Since(began))
	if free {
		next.Release()
		if err := next.AwaitServing(ctx); ctx.Err() != nil {
			next.Stop()
			return true
		} else if err != nil {
			s.succession.Store(notReady)
			s.log.Error("the restart failed; this process serves again", "error", err)
			return false
		}
	} // else the end of this process frees the database
	s.given.Manager.Succeeded(next.ID(), a.URL())
	s.log.Info("handed over", "process", next.ID(), "took", time.Since(began))
	return true
}
