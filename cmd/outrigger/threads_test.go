package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
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
	sites  threads.Sites

	metadata []string // of the uploads
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
		_ = json.NewEncoder(w).Encode(map[string]any{"records": 10, "errors": map[string]int{}, "drafts": playedDrafts(), "sites": c.sites})
	case what == "verify":
		fmt.Fprint(w, `{"relations":10,"present":10}`)
	case what == "uploads" && r.Method == http.MethodGet:
		fmt.Fprint(w, `{"items":[]}`)
	case what == "uploads":
		c.metadata = append(c.metadata, r.Header.Get("Upload-Metadata"))
		w.Header().Set("Location", r.URL.Path+"/7")
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodDelete:
		c.done = append(c.done, r.Method+" "+what)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPatch:
		w.Header().Set("Upload-Offset", fmt.Sprint(r.ContentLength))
		w.WriteHeader(http.StatusNoContent)
	default:
		if r.URL.RawQuery != "" {
			what += "?" + r.URL.RawQuery
		}
		c.done = append(c.done, r.Method+" "+what)
		c.say(w, http.StatusAccepted)
	}
}

// playedDrafts are the files that migrate sends.
func playedDrafts() threads.Drafts {
	name := func(content string) threads.Draft {
		sum := sha256.Sum256([]byte(content))
		return threads.Draft{ID: 7, SHA256: hex.EncodeToString(sum[:])}
	}
	return threads.Drafts{Hierarchy: name("hierarchy"), Mappings: name("mappings")}
}

func (c *playedCloud) say(w http.ResponseWriter, status int) {
	phase := c.phases[0]
	allowed := phase.Allowed()
	if phase == threads.PhaseCancelled { // something was written
		allowed = append(allowed, threads.OpUndo)
	}
	answer := map[string]any{
		"status": phase.Status(), "phase": phase, "message": "So it is.", "allowed": allowed,
		"progress": map[string]int{"processed": 30, "total": 100, "percent": 30}, "data": playedDrafts(),
	}
	if phase == threads.PhaseCompleted {
		answer["verified"] = threads.Verified{
			State: threads.JobDone, Complete: true, Compared: threads.Compared{Relations: 10, Present: 10},
		}
	}
	b, err := json.Marshal(answer)
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
		{[]threads.Phase{threads.PhaseCancelled}, "migrate", exitFailed, "allowed are: reset, undo.\noutrigger: clear it first", "[]"},
		{[]threads.Phase{ready}, "migrate", exitFailed, "another migration is loaded (READY); process it with outrigger threads start", "[]"},
		{[]threads.Phase{ready, ready, threads.PhaseCompleted}, "migrate --replace", exitDone, "outrigger: verified: 10 of 10 relationships are in the target", "[POST upload POST start]"},
		{[]threads.Phase{processing}, "migrate --dry-run", exitDone, "", "[DELETE 7 DELETE 7]"},
		{[]threads.Phase{processing, processing, threads.PhaseCompleted}, "status --wait", exitDone, "outrigger: So it is.", "[]"},
		{[]threads.Phase{processing, threads.PhaseCancelled}, "status --wait", exitFailed, "the migration is not complete; it is CANCELLED", "[]"},
		{[]threads.Phase{processing, processing, threads.PhaseCompleted}, "retry", exitDone, "outrigger: So it is.", "[POST retry]"},
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

// A migration says what the comparison at its end found, also where all is well:
// people read it on standard error, scripts as a member of the JSON.
func TestMigrateSaysVerified(t *testing.T) {
	ends := []threads.Phase{threads.PhaseEmpty, threads.PhaseReady, threads.PhaseCompleted}
	const words = "outrigger: verified: 10 of 10 relationships are in the target"
	out, errs, code := (&playedCloud{phases: ends}).migrate(t, t.Context(), "migrate", "--json")
	var st struct{ Verified *threads.Verified }
	if err := json.Unmarshal([]byte(out), &st); err != nil || st.Verified == nil || !st.Verified.Complete || st.Verified.Present != 10 {
		t.Errorf("%v: %s", err, out)
	}
	if code != exitDone || strings.Count(errs, words) != 1 {
		t.Errorf("%d, %s", code, errs)
	}
	for args, phases := range map[string][]threads.Phase{"migrate": ends, "status": ends[2:]} {
		out, _, _ := (&playedCloud{phases: phases}).migrate(t, t.Context(), args)
		if !strings.Contains(out, "Verified") || !strings.Contains(out, "10 of 10 relationships are in the target") {
			t.Errorf("%s: %s", args, out)
		}
	}
}

// The site of the mappings goes along with them and with no other file; those of
// another site are loaded only with a flag, and a dry run says it.
func TestMigrateForAnotherSite(t *testing.T) {
	const other = "https://other.example.com"
	for _, c := range []struct {
		args string
		code int
		says string
		done string
	}{
		{"migrate --site " + other, exitFailed, "run the command again with --accept-other-site", "[]"},
		{"migrate --accept-other-site --site " + other, exitDone, "", "[POST upload?acceptOtherSite=true POST start]"},
		{"migrate --accept-other-site --accept-incomplete --site " + other, exitDone, "", "[POST upload?acceptIncomplete=true&acceptOtherSite=true POST start]"},
		{"migrate --dry-run --site " + other, exitLook, "", "[DELETE 7 DELETE 7]"},
	} {
		cloud := &playedCloud{phases: []threads.Phase{threads.PhaseEmpty, threads.PhaseReady, threads.PhaseCompleted}}
		cloud.sites = threads.SitesOf(other, "https://site.example.com")
		out, errs, code := cloud.migrate(t, t.Context(), strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errs, c.says) || !strings.Contains(errs, cloud.sites.Text) || fmt.Sprint(cloud.done) != c.done {
			t.Errorf("%s: %d, %s, done %v", c.args, code, errs, cloud.done)
		}
		if strings.Contains(c.args, "dry-run") && !strings.Contains(out, cloud.sites.Text) {
			t.Errorf("%s: %s", c.args, out)
		}
		site := ",site " + base64.StdEncoding.EncodeToString([]byte(other))
		if len(cloud.metadata) != 2 || strings.Contains(cloud.metadata[0], site) || !strings.Contains(cloud.metadata[1], site) {
			t.Errorf("%s: %q", c.args, cloud.metadata)
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
