package app

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"outrigger/internal/config"
	"outrigger/internal/rest"
)

// NewLogger makes the logger that the settings ask for. Without a format it
// writes text when out is a terminal, else JSON. What is logged for a request
// has its id.
func NewLogger(c config.Log, out io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewJSONHandler(out, o)
	if c.Format == "text" || c.Format == "" && isTerminal(out) {
		handler = slog.NewTextHandler(out, o)
	}
	return slog.New(rest.LogHandler(handler))
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
