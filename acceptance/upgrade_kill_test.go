package acceptance

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"outrigger/internal/app"
	"outrigger/internal/config"
)

// diesAtEnv has the tests' binary start the program of a configuration file, and die
// before a statement of its schema change: a number, a colon and the file.
const diesAtEnv = "TEST_DIES_AT"

// startAndDie ends in order where the schema change has fewer statements.
func startAndDie() {
	number, file, _ := strings.Cut(os.Getenv(diesAtEnv), ":")
	left, err := strconv.Atoi(number)
	if err != nil {
		panic(err)
	}
	cfg, _, err := config.Load(file, nil, nil)
	if err != nil {
		panic(err)
	}
	a, err := app.New(cfg, app.Options{Log: slog.New(&killer{left: left})})
	if err == nil {
		err = a.Start(context.Background())
	}
	if err == nil {
		err = a.Stop(context.Background())
	}
	if err != nil {
		panic(err)
	}
}

// killer is a log that kills the process where a statement is to run.
type killer struct{ left int }

func (k *killer) Enabled(context.Context, slog.Level) bool { return true }
func (k *killer) WithAttrs([]slog.Attr) slog.Handler       { return k }
func (k *killer) WithGroup(string) slog.Handler            { return k }

func (k *killer) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "schema statement" {
		return nil
	}
	if k.left--; k.left == 0 {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
	return nil
}
