package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"outrigger/internal/loadtest"
	"outrigger/internal/rest"
)

const (
	// statusPath is what monitors ask.
	statusPath = "/rest/mailqueue/1.0/status"
	// askers is how many connections ask at a time; each is kept.
	askers = 16
	// manyQueued is how many messages wait while the status is asked, and
	// queuedSize how long each is: only their number counts here.
	manyQueued = 100_000
	queuedSize = 256
)

// constant is what the status is held against: the program's HTTP server with a
// handler without authentication that always writes the same answer.
func constant(listen string) error {
	answer := []byte(`{"size":100000,"errorSize":0}`)
	length := strconv.Itoa(len(answer))
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+statusPath, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", length)
		h.Set("X-Request-Id", "0123456789abcdef")
		h.Set("Cache-Control", "no-store")
		h.Set("Vary", "Accept")
		h.Set("X-Content-Type-Options", "nosniff")
		w.Write(answer)
	})
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	return rest.Server(mux, slog.New(slog.DiscardHandler)).Serve(l)
}

// status measures the answers to monitors with an empty queue and with a full
// one, in turn with a constant.
func (b *bench) status(ctx context.Context) {
	if _, err := exec.LookPath(smtpSource); err != nil {
		b.row("mail: /status", "not measured: "+smtpSource+" is not installed (apt-get install postfix)", "")
		return
	}
	addr := freeAddress()
	bare := asked(addr, "none", b.self(ctx, addr, "constant", addr))
	empty, full := b.askedNode(ctx, 0), b.askedNode(ctx, manyQueued)
	b.inTurn(ctx, bare, empty, full)
	answers := func(what string, of *meter) {
		b.row("mail: answers of "+what, fmt.Sprintf("%.0f/s, %s of processor time each", of.rate(), micros(of.each())), "")
	}
	answers("a handler with a constant", bare)
	answers("/status at 0 queued", empty)
	answers(fmt.Sprintf("/status at %d queued", manyQueued), full)
	share := func(of string, than *meter, hold string) {
		b.row("mail: /status when full, share of the rate "+of, fmt.Sprintf("%.2f", full.rate()/than.rate()), hold)
	}
	share("of the constant", bare, "at least 0.70")
	share("at 0 queued", empty, "not slower")
}

// askedNode is a node without a smarthost, in which so many messages wait.
func (b *bench) askedNode(ctx context.Context, messages int) *meter {
	listen := freeAddress()
	p := b.node(ctx, loadtest.Settings{MailListen: listen})
	var made struct{ Token string }
	monitor := map[string]string{"name": "bench", "scope": "monitoring"}
	check(p.Ask(ctx, http.MethodPost, "/rest/outrigger/1.0/tokens", monitor, &made))
	if messages > 0 {
		sendMail(ctx, listen, messages, queuedSize)
	}
	if n := queued(ctx, p); n != messages {
		check(fmt.Errorf("%d messages wait, not %d", n, messages))
	}
	return asked(p.Addr(), made.Token, p.PID())
}

// asked is a server under questions for its status.
func asked(addr, token string, pid int) *meter {
	return &meter{
		cpu: func() (time.Duration, error) { return loadtest.CPU(pid) },
		work: func(ctx context.Context, about time.Duration) int {
			var answers atomic.Int64
			var all errgroup.Group
			for range askers {
				all.Go(func() error { return ask(ctx, addr, token, time.Now().Add(about), &answers) })
			}
			check(all.Wait())
			return int(answers.Load())
		},
	}
}

// ask asks one question after the other over one connection. It is leaner than
// net/http's client, whose own cost would hide the server's.
func ask(ctx context.Context, addr, token string, end time.Time, answers *atomic.Int64) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(end.Add(10 * time.Second)); err != nil {
		return err
	}
	question := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: application/json\r\n\r\n", statusPath,
		addr, token)
	in := bufio.NewReader(conn)
	for time.Now().Before(end) {
		if _, err := conn.Write(question); err != nil {
			return err
		}
		if err := readAnswer(in); err != nil {
			return err
		}
		answers.Add(1)
	}
	return nil
}

var (
	okLine       = []byte("HTTP/1.1 200 ")
	lengthHeader = []byte("Content-Length: ")
)

// readAnswer reads a 200 with a body of known length.
func readAnswer(in *bufio.Reader) error {
	length := -1
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.HasPrefix(line, okLine) {
			return fmt.Errorf("the status was answered with %q", line)
		}
		if value, ok := bytes.CutPrefix(line, lengthHeader); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
		if len(line) == len("\r\n") {
			break
		}
	}
	if length < 0 {
		return errors.New("the status was answered without a length")
	}
	_, err := io.CopyN(io.Discard, in, int64(length))
	return err
}
