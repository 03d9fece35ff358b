package acceptance

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that the program uses

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// TestThreadsKill kills a node at random moments while files are sent to it,
// read, and processed, a quarter as often as TestKill kills: the command that
// migrates goes on by itself, and what comes of it is what the files say. Once
// more it is killed while that is undone, and then nothing is left of it.
func TestThreadsKill(t *testing.T) {
	t.Parallel()
	p := node(t, loadtest.Settings{})
	start(t, p)
	f := newFolder(t)
	left := max(5, kills(t)/4)
	for round := uint64(1); left > 0; round++ {
		model := f.migrationFiles(50_000, round)
		f.write("hierarchy.json", strings.Repeat(" ", 20<<20)+f.read("hierarchy.json")) // so that sending takes a moment
		migrate := f.begin(p, "migrate", "--hierarchy", "hierarchy.json", "--mappings", "mappings.csv")
		for first := true; left > 0 && migrate.moment(t, p, first); left, first = left-1, false {
			p.Kill()
			if err := p.Spawn(); err != nil {
				t.Fatal(err)
			}
		}
		if e := migrate.end(); e.code != exitLook {
			t.Fatalf("migrate: %v", e)
		}
		f.must(exitLook, "Missing\t0", p, "verify")
		f.sameErrors(p, model.Reasons)
		sameMaps(t, f.backup(p, "backup.gz"), model.Maps)
		undo := f.begin(p, "undo", "--yes")
		for doing(t, p) != string(threads.PhaseProcessing) && undo.lasts(5*time.Millisecond) {
		}
		if undo.lasts(mathrand.N(200 * time.Millisecond)) {
			t.Log("killed while it was undoing")
			p.Kill()
			if err := p.Spawn(); err != nil {
				t.Fatal(err)
			}
		}
		if e := undo.end(); e.code != 0 || !strings.Contains(e.out, "IDLE, EMPTY") {
			t.Fatalf("undo: %v", e)
		}
		sameMaps(t, f.backup(p, "backup.gz"), nil)
	}
	p.Kill()
	checkIntegrity(t, filepath.Join(p.Settings.Dir, "outrigger.db"))
}

// exitLook is the exit code of what is done, with errors to look at.
const exitLook = 2

// running is a command that has begun.
type running struct {
	over chan struct{}
	how  ended // once it is over
}

func (f folder) begin(p *loadtest.Process, args ...string) *running {
	return f.beginAs("admin", p, args...)
}

func (f folder) beginAs(user string, p *loadtest.Process, args ...string) *running {
	r := &running{over: make(chan struct{})}
	go func() {
		defer close(r.over)
		r.how = f.threadsAs(user, p, args...)
	}()
	return r
}

func (r *running) end() ended {
	<-r.over
	return r.how
}

// lasts reports whether the command is not over for some time more.
func (r *running) lasts(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.over:
		return false
	case <-timer.C:
		return true
	}
}

// moment waits for a random one: the first is soon, since sending takes the
// shortest; of two others, one is anywhere, and one while records are processed.
// It is false when it was all over before.
func (r *running) moment(t *testing.T, p *loadtest.Process, first bool) bool {
	most := 1500 * time.Millisecond
	switch {
	case first:
		most = 500 * time.Millisecond
	case mathrand.IntN(2) == 0:
		most = 100 * time.Millisecond
		for doing(t, p) != string(threads.PhaseProcessing) {
			if !r.lasts(10 * time.Millisecond) {
				return false
			}
		}
	}
	if !r.lasts(mathrand.N(most)) {
		return false
	}
	now := doing(t, p)
	if now == string(threads.PhaseCompleted) {
		return false
	}
	t.Log("killed while it was", now)
	return true
}

// doing is what a node is at; it may just be starting.
func doing(t *testing.T, p *loadtest.Process) string {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	st, err := p.Threads().Status(ctx)
	switch {
	case err != nil:
		return "starting"
	case st.Phase != threads.PhaseEmpty:
		return string(st.Phase)
	}
	var drafts struct {
		Items []struct{ Offset, Length int64 }
	}
	ask(t, p, "/rest/threaded-comments/1.0/migration/uploads", &drafts)
	for _, d := range drafts.Items {
		if d.Offset < d.Length {
			return fmt.Sprintf("sending, at %d of %d", d.Offset, d.Length)
		}
	}
	return "reading"
}

// TestThreadsNodeDies kills the node of two that writes to a cloud site. The
// other one finishes, and whatever either wrote to an issue is the same. So it is
// when the migration is undone: in the end the site has nothing of it.
func TestThreadsNodeDies(t *testing.T) {
	t.Parallel()
	site := newCloud(t)
	key := make([]byte, 32)
	rand.Read(key) // never fails (crypto/rand)
	s := loadtest.Settings{
		DatabaseURL: dbtest.PostgresURL(t), SecretKey: base64.StdEncoding.EncodeToString(key), Clustered: true, Threads: site.settings(),
	}
	nodes := map[string]*loadtest.Process{}
	for _, id := range []string{"a", "b"} {
		s.NodeID = id
		nodes[id] = node(t, s)
		start(t, nodes[id])
	}
	victim := leaseOwner(t, s.DatabaseURL, "threads/processing")
	survivor := nodes[map[string]string{"a": "b", "b": "a"}[victim]]

	f := newFolder(t)
	model := f.migrationFiles(10_000, 3)
	migrate := f.begin(survivor, "migrate", "--hierarchy", "hierarchy.json", "--mappings", "mappings.csv")
	until(t, time.Minute, "nothing is written", func() bool { return site.Counts().Writes > 50 })
	if owner := leaseOwner(t, s.DatabaseURL, "threads/processing"); owner != victim {
		t.Fatalf("%s processes now, and not %s any more", owner, victim)
	}
	nodes[victim].Kill()
	written := site.Counts().Writes
	if written >= int64(len(model.Maps)) {
		t.Fatalf("it was over before the kill: %d writes", written)
	}
	if e := migrate.end(); e.code != exitLook {
		t.Fatalf("migrate: %v", e)
	}
	t.Logf("killed after %d writes; %d in the end, to %d issues", written, site.Counts().Writes, len(model.Maps))
	f.must(exitLook, "Missing\t0", survivor, "verify")
	f.sameErrors(survivor, model.Reasons)
	sameMaps(t, f.backup(survivor, "backup.gz"), model.Maps)
	site.holds(t, model)

	start(t, nodes[victim])
	f.must(0, "COMPLETED", nodes[victim], "status")

	undo := f.begin(nodes[victim], "undo", "--yes")
	before := site.Counts().Writes
	until(t, time.Minute, "nothing is undone", func() bool { return site.Counts().Writes > before+50 })
	survivor.Kill() // it had the lease
	if e := undo.end(); e.code != 0 || !strings.Contains(e.out, fmt.Sprintf("The migration was undone: %d issues as before.", len(model.Maps))) {
		t.Fatalf("undo: %v", e)
	}
	if issues := site.Issues(); len(issues) > 0 {
		t.Errorf("%d issues still have properties", len(issues))
	}
	sameMaps(t, f.backup(nodes[victim], "backup.gz"), nil)
}

// cloud is a cloud site that remembers what was written to each issue.
type cloud struct {
	*cloudsite.Site
	url string

	mu      sync.Mutex
	written map[int64][]string // values of the property that a reader begins with
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{written: map[int64][]string{}}
	c.Site = cloudsite.New(cloudsite.Options{
		User: "ada@example.com", Token: "cloud-token", Latency: 20 * time.Millisecond,
		React: func(r cloudsite.Request) *cloudsite.Reaction {
			if r.Method == "PUT" && r.Key == cloudsite.Threads {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.written[r.Issue] = append(c.written[r.Issue], r.Value)
			}
			return nil
		},
	})
	server := httptest.NewServer(c.Handler())
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// settings has a node write to the site.
func (c *cloud) settings() string {
	return fmt.Sprintf("{target: jira-cloud, jira_cloud: {url: %q, user: ada@example.com, token: cloud-token}}", c.url)
}

// holds holds what the site has, and everything that was ever written to it, to
// the model.
func (c *cloud) holds(t *testing.T, model *threadstest.Model) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.written) != len(model.Maps) {
		t.Errorf("%d issues were written, the model has %d", len(c.written), len(model.Maps))
	}
	for issue, want := range model.Maps {
		texts := map[string]string{}
		for _, r := range want {
			texts[strconv.FormatInt(r.CommentID, 10)] = strconv.FormatInt(r.ParentID, 10)
		}
		found, err := c.Parents(issue)
		if err != nil || fmt.Sprint(found) != fmt.Sprint(texts) {
			t.Errorf("issue %d has %v, %v, want %v", issue, found, err, texts)
		}
		for _, value := range c.written[issue] {
			var property struct{ Parents map[string]string }
			if err := json.Unmarshal([]byte(value), &property); err != nil || fmt.Sprint(property.Parents) != fmt.Sprint(texts) {
				t.Errorf("to issue %d was written %s, %v, want %v", issue, value, err, texts)
			}
		}
	}
}

// leaseOwner waits until a node has a lease, and gives its id.
func leaseOwner(t *testing.T, url, lease string) (owner string) {
	t.Helper()
	d, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	until(t, startTime, "nobody has the lease "+lease, func() bool {
		return d.QueryRowContext(t.Context(), `SELECT owner FROM leases WHERE name LIKE $1 AND owner <> ''`, lease+"%").Scan(&owner) == nil
	})
	return owner
}
