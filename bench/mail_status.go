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
	"sync"
	"sync/atomic"
	"time"

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

// asked is a server under questions for its status, and what it did so far.
type asked struct {
	addr  string
	token string
	pid   int

	answers int
	took    time.Duration
	used    time.Duration
}

func (a *asked) rate() float64 { return float64(a.answers) / a.took.Seconds() }

func (a *asked) each() time.Duration { return a.used / time.Duration(max(a.answers, 1)) }

// status measures the answers to monitors with an empty queue and with a full
// one, in turn with a constant.
func (b *bench) status(ctx context.Context) error {
	if _, err := exec.LookPath(smtpSource); err != nil {
		b.row("mail: /status", "not measured: "+smtpSource+" is not installed (apt-get install postfix)", "")
		return nil
	}
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	pid, err := b.self(ctx, "constant", addr)
	if err != nil {
		return err
	}
	bare := &asked{addr: addr, token: "none", pid: pid}
	empty, err := b.askedNode(ctx, 0)
	if err != nil {
		return err
	}
	full, err := b.askedNode(ctx, manyQueued)
	if err != nil {
		return err
	}
	all := []*asked{bare, empty, full}
	for _, a := range all {
		if err := a.round(ctx, warmUp); err != nil {
			return err
		}
		a.answers, a.took, a.used = 0, 0, 0
	}
	for range rounds {
		for _, a := range all {
			if err := a.round(ctx, b.took/rounds); err != nil {
				return err
			}
		}
	}
	for _, a := range []struct {
		what string
		of   *asked
	}{
		{"a handler with a constant", bare},
		{"/status at 0 queued", empty},
		{fmt.Sprintf("/status at %d queued", manyQueued), full},
	} {
		b.row("mail: answers of "+a.what, fmt.Sprintf("%.0f/s, %s of processor time each", a.of.rate(), micros(a.of.each())), "")
	}
	share := func(of string, than *asked, hold string) {
		b.row("mail: /status when full, share of the rate "+of, fmt.Sprintf("%.2f", full.rate()/than.rate()), hold)
	}
	share("of the constant", bare, "at least 0.70")
	share("at 0 queued", empty, "not slower")
	return nil
}

// askedNode is a node without a smarthost, in which so many messages wait.
func (b *bench) askedNode(ctx context.Context, messages int) (*asked, error) {
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p, err := b.node(ctx, loadtest.Settings{MailListen: listen})
	if err != nil {
		return nil, err
	}
	token, err := monitoringToken(ctx, p)
	if err != nil {
		return nil, err
	}
	if messages > 0 {
		if err := sendMail(ctx, listen, messages, queuedSize); err != nil {
			return nil, err
		}
	}
	n, err := queued(ctx, p)
	if err == nil && n != messages {
		err = fmt.Errorf("%d messages wait, not %d", n, messages)
	}
	return &asked{addr: p.Addr(), token: token, pid: p.PID()}, err
}

// monitoringToken makes a token that may read the status.
func monitoringToken(ctx context.Context, p *loadtest.Process) (string, error) {
	var made struct{ Token string }
	err := p.Ask(ctx, http.MethodPost, "/rest/outrigger/1.0/tokens", map[string]string{"name": "bench", "scope": "monitoring"}, &made)
	return made.Token, err
}

// round asks for a while.
func (a *asked) round(ctx context.Context, took time.Duration) error {
	before, err := loadtest.CPU(a.pid)
	if err != nil {
		return err
	}
	began := time.Now()
	var answers atomic.Int64
	errs := make([]error, askers)
	var all sync.WaitGroup
	for i := range askers {
		all.Go(func() { errs[i] = a.ask(ctx, began.Add(took), &answers) })
	}
	all.Wait()
	a.took += time.Since(began)
	a.answers += int(answers.Load())
	after, err := loadtest.CPU(a.pid)
	a.used += after - before
	return errors.Join(append(errs, err)...)
}

// ask asks one question after the other over one connection. It is leaner than
// net/http's client, whose own cost would hide the server's.
func (a *asked) ask(ctx context.Context, end time.Time, answers *atomic.Int64) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(end.Add(10 * time.Second)); err != nil {
		return err
	}
	question := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: application/json\r\n\r\n", statusPath,
		a.addr, a.token)
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
