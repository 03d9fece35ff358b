package app

import (
	"io"
	"log/slog"

	"golang.org/x/term"

	"outrigger/internal/config"
	"outrigger/internal/rest"
)

// LogLevel is the least level that the settings want to see.
func LogLevel(c config.Log) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return slog.LevelInfo
	}
	return level
}

// NewLogger makes the logger that the settings ask for, but for the level,
// which may change. Without a format it writes text when out is a terminal,
// else JSON. What is logged for a request has its id.
func NewLogger(c config.Log, level slog.Leveler, out io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: withUnit}
	var handler slog.Handler = slog.NewJSONHandler(out, o)
	if c.Format == "text" || c.Format == "" && isTerminal(out) {
		handler = slog.NewTextHandler(out, o)
	}
	return slog.New(rest.LogHandler(handler))
}

// withUnit writes durations as 1.5s in JSON too, which would give nanoseconds.
func withUnit(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
