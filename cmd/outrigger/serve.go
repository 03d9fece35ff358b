package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"outrigger/internal/app"
	"outrigger/internal/config"
	"outrigger/internal/db"
)

// configFlag is --config of every command that reads the settings.
type configFlag struct {
	Config string `help:"The YAML file with the settings." env:"OUTRIGGER_CONFIG" placeholder:"FILE"`
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
	Listen string `help:"Host and port to listen on, in place of the setting listen." placeholder:"ADDR"`
	Data   string `help:"The data folder, in place of the setting data_dir." placeholder:"DIR"`
}

func (c serveCmd) Run(ctx context.Context, s streams) error {
	cfg, warnings, err := config.Load(c.Config, os.Environ(), map[string]string{"listen": c.Listen, "data_dir": c.Data})
	if err != nil {
		return err
	}
	log := app.NewLogger(cfg.Log, s.out)
	for _, w := range warnings {
		log.Warn(w)
	}
	a, err := app.New(cfg, app.Options{Log: log, Version: version})
	if err != nil {
		return err
	}
	return runApp(ctx, a, log, func() {})
}

// process is what runApp runs: an app, or a demo around one.
type process interface {
	Start(context.Context) error
	Stop(context.Context) error
	Failed() <-chan error
	URL() string
}

// runApp starts a, calls ready, and stops it when ctx ends or it cannot go on. When
// the disk failed it leaves everything as it is, for main to end the process.
func runApp(ctx context.Context, a process, log *slog.Logger, ready func()) error {
	began := time.Now()
	if err := a.Start(ctx); err != nil {
		if ctx.Err() != nil { // asked to end before it was ready: no failure
			return nil
		}
		return err
	}
	log.Info("ready", "url", a.URL(), "version", version, "took", time.Since(began))
	ready()
	var failure error
	select {
	case <-ctx.Done():
	case failure = <-a.Failed():
		log.Error("the process cannot go on", "error", failure)
	}
	if errors.Is(failure, db.ErrDisk) {
		return failure // at once: nothing that a stop does could be saved
	}
	log.Info("stopping")
	// ctx has ended; a stop bounds itself.
	err := a.Stop(context.WithoutCancel(ctx))
	if errors.Is(err, db.ErrDisk) {
		log.Error("the disk failed while stopping", "error", err)
		return err
	}
	if err != nil {
		log.Warn("not everything ended in order", "error", err)
	}
	log.Info("stopped")
	return failure
}
