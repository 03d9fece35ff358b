package app

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"outrigger/internal/restart"
)

// Sockets that were passed count, and the log says where the settings name another
// address: only there.
func TestSocketsAtAnotherAddress(t *testing.T) {
	for _, other := range []bool{false, true} {
		sockets := restart.NewSockets()
		for _, name := range []string{restart.HTTP, restart.SMTP} {
			l, err := sockets.Listen(t.Context(), name, "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if err := sockets.Keep(); err != nil {
				t.Fatal(err)
			}
			l.Close()
		}
		t.Cleanup(sockets.Close)
		cfg := settings(t) // any port of 127.0.0.1
		if other {
			cfg.Listen, cfg.Mail.Listen = "127.0.0.2:0", "127.0.0.2:0"
		}
		var log bytes.Buffer
		a := newApp(t, cfg, Options{Sockets: sockets, NewDatabase: true, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		host, _, err := net.SplitHostPort(a.Addr())
		if err != nil || host != "127.0.0.1" {
			t.Errorf("it listens at %s", a.Addr())
		}
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		want := 0
		if other {
			want = 2
		}
		if n := strings.Count(log.String(), "listens at another address"); n != want {
			t.Errorf("said %d times, want %d: %s", n, want, &log)
		}
	}
}
