package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
)

const (
	// hookPatience is how long a webhook waits for a start: the self-hosted
	// platform never sends again, and itself gives up after 20 s.
	hookPatience = 10 * time.Second
	// checkTime is how long /readyz may ask: less than probes wait.
	checkTime = 2 * time.Second
	// lastCall is how long before the end of a drain requests are told to end, but
	// for webhooks: one that waits for a platform is then answered with 503.
	lastCall = 500 * time.Millisecond
)

// phase is how far the process is; it only goes forward.
type phase int

const (
	starting phase = iota // webhooks wait, everything else is 503
	serving
	stopping // webhooks are still taken, everything else is 503
	drained  // everything is 503
)

// sentence says what the phase refuses with, "" while serving.
func (p phase) sentence() string {
	switch p {
	case starting:
		return "Outrigger is starting; try again in a moment."
	case serving:
		return ""
	}
	return "Outrigger is stopping; try again in a moment."
}

// startupGate stands between the listener and the router, so that the listener can
// be opened first and closed last. It answers /healthz and /readyz itself.
type startupGate struct {
	base string // the path of the base URL, "" or "/outrigger"

	mu     sync.Mutex
	phase  phase
	why    string        // what a start waits for; "": nothing
	moved  chan struct{} // closed when the phase changes
	busy   int           // requests in next
	idle   chan struct{} // closed when drained and nothing is busy
	next   http.Handler
	checks []check

	ending context.Context // ends at the last call
	end    context.CancelFunc
}

// check is one condition of being ready; its error is the sentence that
// /readyz answers.
type check func(ctx context.Context) error

func newStartupGate(base string) *startupGate {
	f := &startupGate{base: base, moved: make(chan struct{}), idle: make(chan struct{})}
	f.ending, f.end = context.WithCancel(context.Background())
	return f
}

// serve makes the process ready as soon as checks hold.
func (f *startupGate) serve(next http.Handler, checks ...check) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next, f.checks = next, checks
	f.move(serving)
}

// waits says what the start waits for, until it goes on.
func (f *startupGate) waits(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.why = why
}

// sentence says what everything is refused with, "" while serving. f.mu is held.
func (f *startupGate) sentence() string {
	if f.phase == starting && f.why != "" {
		return f.why
	}
	return f.phase.sentence()
}

// stop refuses everything new but webhooks.
func (f *startupGate) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.move(stopping)
}

// drain refuses everything new and waits until what is under way was answered.
func (f *startupGate) drain(ctx context.Context) error {
	f.mu.Lock()
	f.move(drained)
	f.leave(0)
	f.mu.Unlock()
	defer f.end()
	if deadline, ok := ctx.Deadline(); ok {
		defer time.AfterFunc(time.Until(deadline)-lastCall, f.end).Stop()
	}
	select {
	case <-f.idle:
		return nil
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		return fmt.Errorf("%d requests were cut off", f.busy)
	}
}

// move goes to a later phase. f.mu is held.
func (f *startupGate) move(p phase) {
	if p > f.phase {
		f.phase = p
		close(f.moved)
		f.moved = make(chan struct{})
	}
}

// leave counts n requests as answered. f.mu is held.
func (f *startupGate) leave(n int) {
	f.busy -= n
	if f.phase == drained && f.busy == 0 {
		select {
		case <-f.idle:
		default:
			close(f.idle)
		}
	}
}

// enter lets a request through: the handler to ask, or why it is refused.
func (f *startupGate) enter(hook bool) (http.Handler, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase == serving || hook && f.phase == stopping && f.next != nil {
		f.busy++
		return f.next, ""
	}
	return nil, f.sentence()
}

func (f *startupGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.isStopping() {
		// No request follows on this connection: it would meet its end.
		w.Header().Set("Connection", "close")
	}
	path := strings.TrimPrefix(r.URL.Path, f.base)
	switch path {
	case "/healthz":
		answer(w, http.StatusOK, "ok")
		return
	case "/readyz":
		f.readyz(w, r)
		return
	}
	hook := strings.HasPrefix(path, "/hooks/")
	if hook {
		f.await(r.Context())
	}
	next, why := f.enter(hook)
	if why != "" {
		refuse(w, r, path, why)
		return
	}
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.leave(1)
	}()
	if !hook {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(f.ending, cancel)()
		r = r.WithContext(ctx)
	}
	next.ServeHTTP(w, r)
}

func (f *startupGate) isStopping() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.phase >= stopping
}

// await waits for the end of a start, for hookPatience at most.
func (f *startupGate) await(ctx context.Context) {
	f.mu.Lock()
	waiting, moved := f.phase == starting, f.moved
	f.mu.Unlock()
	if !waiting {
		return
	}
	patience := time.NewTimer(hookPatience)
	defer patience.Stop()
	select {
	case <-moved:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// refuse answers 503 in the form that the path has.
func refuse(w http.ResponseWriter, r *http.Request, path, why string) {
	if strings.HasPrefix(path, "/rest/") || strings.HasPrefix(path, "/hooks/") {
		w.Header().Set("X-Request-Id", newRequestID())
		rest.WriteError(w, r, &fault.Error{Code: fault.Unavailable, Message: why, RetryAfter: time.Second})
		return
	}
	w.Header().Set("Retry-After", "1")
	answer(w, http.StatusServiceUnavailable, why)
}

// readyz reports whether this node should get requests, and else why not.
func (f *startupGate) readyz(w http.ResponseWriter, r *http.Request) {
	if why := f.notReady(r.Context()); why != "" {
		answer(w, http.StatusServiceUnavailable, why)
		return
	}
	answer(w, http.StatusOK, "ready")
}

// notReady is why this node should get no requests; "" where it should.
func (f *startupGate) notReady(ctx context.Context) string {
	f.mu.Lock()
	why, checks := f.sentence(), f.checks
	f.mu.Unlock()
	if why != "" {
		return why
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	for _, c := range checks {
		if err := c(ctx); err != nil {
			return fault.As(err).Message
		}
	}
	return ""
}

// answer writes one line of text.
func answer(w http.ResponseWriter, status int, line string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Request-Id", newRequestID())
	w.WriteHeader(status)
	_, _ = io.WriteString(w, line+"\n") // the client may be gone
}

// newRequestID names a request that does not reach the router.
func newRequestID() string { return secret.Random(9) }
