package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/threads"
)

// playedCloud is a cloud side that goes through phases by itself: one more each
// time its status is asked for. It takes any file, and says which operations it
// was asked for.
type playedCloud struct {
	mu     sync.Mutex
	phases []threads.Phase // the last one stays
	done   []string
	status func() // called at each status; may be nil
}

func (c *playedCloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what := path.Base(r.URL.Path)
	switch {
	case what == "status":
		if c.status != nil {
			c.status()
		}
		c.say(w, http.StatusOK)
		if len(c.phases) > 1 {
			c.phases = c.phases[1:]
		}
	case what == "preview":
		fmt.Fprint(w, `{"records":10,"errors":{}}`)
	case what == "verify":
		fmt.Fprint(w, `{"relations":10,"present":10}`)
	case what == "uploads" && r.Method == http.MethodGet:
		fmt.Fprint(w, `{"items":[]}`)
	case what == "uploads":
		w.Header().Set("Location", r.URL.Path+"/7")
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodDelete:
		c.done = append(c.done, r.Method+" "+what)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPatch:
		w.Header().Set("Upload-Offset", fmt.Sprint(r.ContentLength))
		w.WriteHeader(http.StatusNoContent)
	default:
		c.done = append(c.done, r.Method+" "+what)
		c.say(w, http.StatusAccepted)
	}
}

func (c *playedCloud) say(w http.ResponseWriter, status int) {
	phase := c.phases[0]
	b, err := json.Marshal(map[string]any{
		"status": phase.Status(), "phase": phase, "message": "So it is.", "allowed": phase.Allowed(),
		"progress": map[string]int{"processed": 30, "total": 100, "percent": 30},
	})
	if err != nil {
		panic(err)
	}
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may be gone
}

// migrate runs the command against the played server.
func (c *playedCloud) migrate(t *testing.T, ctx context.Context, args ...string) (out, errs string, code int) {
	t.Helper()
	server := httptest.NewServer(c)
	defer server.Close()
	dir := t.TempDir()
	for _, name := range []string{"hierarchy", "mappings", "token"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args = append([]string{"threads"}, args...)
	args = append(args, "--server", server.URL, "--token-file", filepath.Join(dir, "token"))
	if args[1] == "migrate" {
		args = append(args, "--hierarchy", filepath.Join(dir, "hierarchy"), "--mappings", filepath.Join(dir, "mappings"))
	}
	var o, e strings.Builder
	code = run(ctx, args, streams{strings.NewReader(""), &o, &e})
	return o.String(), e.String(), code
}

// What a migration comes to is the exit code, and what to do next is said.
func TestMigrateEnds(t *testing.T) {
	const (
		empty, loading, ready = threads.PhaseEmpty, threads.PhaseLoading, threads.PhaseReady
		processing            = threads.PhaseProcessing
	)
	for _, c := range []struct {
		phases []threads.Phase
		args   string
		code   int
		says   string
		done   string
	}{
		{[]threads.Phase{empty, loading, ready, processing, threads.PhaseCompleted}, "migrate", exitDone, "outrigger: So it is.", "[POST upload POST start]"},
		{[]threads.Phase{empty, ready, threads.PhasePaused}, "migrate", exitFailed, "the migration is not complete; it is PAUSED: So it is.", "[POST upload POST start]"},
		{[]threads.Phase{empty, ready, threads.PhaseFailed}, "migrate", exitFailed, "the migration is not complete; it is FAILED: So it is.", "[POST upload POST start]"},
		{[]threads.Phase{empty, loading, empty}, "migrate", exitFailed, "the files were not loaded; the migration is EMPTY: So it is.", "[POST upload]"},
		{[]threads.Phase{processing}, "migrate", exitFailed, "which does not allow upload; allowed are: stop, cancel.\noutrigger: follow it: outrigger threads status --wait", "[]"},
		{[]threads.Phase{threads.PhasePaused}, "migrate", exitFailed, "outrigger: clear it first: outrigger threads reset", "[]"},
		{[]threads.Phase{ready}, "migrate", exitFailed, "another migration is loaded (READY); process it with outrigger threads start", "[]"},
		{[]threads.Phase{ready, ready, threads.PhaseCompleted}, "migrate --replace", exitDone, "", "[POST upload POST start]"},
		{[]threads.Phase{processing}, "migrate --dry-run", exitDone, "", "[DELETE 7 DELETE 7]"},
		{[]threads.Phase{processing, processing, threads.PhaseCompleted}, "status --wait", exitDone, "outrigger: So it is.", "[]"},
		{[]threads.Phase{processing, threads.PhaseCancelled}, "status --wait", exitFailed, "the migration is not complete; it is CANCELLED", "[]"},
		{[]threads.Phase{ready}, "start", exitDone, "", "[POST start]"},
		{[]threads.Phase{processing}, "stop", exitDone, "", "[POST stop]"},
		{[]threads.Phase{processing}, "continue", exitDone, "", "[POST continue]"},
		{[]threads.Phase{processing}, "cancel --yes", exitDone, "", "[POST cancel]"},
		{[]threads.Phase{processing}, "cancel", exitUsage, "use --yes", "[]"},
	} {
		cloud := &playedCloud{phases: c.phases}
		_, errs, code := cloud.migrate(t, t.Context(), strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errs, c.says) || c.says == "" && errs != "" || fmt.Sprint(cloud.done) != c.done {
			t.Errorf("%s, %v: %d, %s, done %v", c.args, c.phases, code, errs, cloud.done)
		}
	}
}

// An interrupted command says what continues without it, and how to
// follow that.
func TestMigrateInterrupted(t *testing.T) {
	for at, says := range []string{
		"nothing was sent",
		"the server continues loading; check with outrigger threads status, then start or reset it",
		"processing continues on the server; outrigger threads status --wait follows it, outrigger threads stop pauses it",
	} {
		ctx, stop := context.WithCancel(t.Context())
		cloud, n := &playedCloud{phases: []threads.Phase{threads.PhaseEmpty, threads.PhaseLoading, threads.PhaseProcessing}}, 0
		if at == 2 {
			cloud.phases = []threads.Phase{threads.PhaseEmpty, threads.PhaseReady, threads.PhaseProcessing}
		}
		cloud.status = func() {
			if n == at {
				stop()
			}
			n++
		}
		_, errs, code := cloud.migrate(t, ctx, "migrate")
		if code != exitFailed || !strings.Contains(errs, "outrigger: interrupted; ") || !strings.Contains(errs, says) {
			t.Errorf("at status %d: %d, %s", at, code, errs)
		}
		stop()
	}
}
