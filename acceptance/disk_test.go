package acceptance

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"outrigger/internal/loadtest"
)

// limitFiles has every write of a process behind the first so many bytes of a
// file fail, as on a full disk; unix.RLIM_INFINITY ends that.
func limitFiles(t *testing.T, p *loadtest.Process, bytes uint64) {
	t.Helper()
	limit := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(p.PID(), unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}

func readyz(t *testing.T, p *loadtest.Process) int {
	t.Helper()
	resp, err := http.Get("http://" + p.Addr() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// overview signs in to the console, and returns what reads its overview.
func overview(t *testing.T, p *loadtest.Process) func() string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	resp, err := client.PostForm("http://"+p.Addr()+"/sign-in", url.Values{"user": {"admin"}, "password": {loadtest.AdminPassword}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return func() string {
		resp, err := client.Get("http://" + p.Addr() + "/")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
}

// TestFullDisk takes the disk away from a node under load and gives it back:
// meanwhile webhooks get 503 and it is not ready, nothing acknowledged is lost, no
// channel is flooded with repeats, and the node goes on without a restart.
func TestFullDisk(t *testing.T) {
	const channels = 16
	sink := newSink(t, channels)
	p := node(t, loadtest.Settings{})
	start(t, p)
	if err := p.SaveChannelRules(t.Context(), channels, sink.URL()); err != nil {
		t.Fatal(err)
	}
	load := loadtest.NewLoad(channels, channels, p.Addr())
	read := overview(t, p)
	phase := func(d time.Duration) (from int) {
		from = len(load.Posts(0))
		stop := background(t, load, 400)
		pass(t, d)
		stop()
		return from
	}
	phase(2 * time.Second)
	limitFiles(t, p, 64<<10) // the files are larger already
	from := phase(3 * time.Second)
	refused := 0
	for _, post := range load.Posts(0)[from:] {
		switch post.Status {
		case http.StatusServiceUnavailable:
			refused++
		case http.StatusAccepted:
		default:
			t.Errorf("a webhook was answered %d on a full disk", post.Status)
		}
	}
	if refused == 0 {
		t.Error("no webhook was refused on a full disk")
	}
	until(t, patience, "a node on a full disk is ready", func() bool { return readyz(t, p) == http.StatusServiceUnavailable })
	if page := read(); !strings.Contains(page, "Needs attention") || !strings.Contains(page, "accepts nothing.") {
		t.Errorf("the overview of a node on a full disk does not say so: %s", page)
	}
	limitFiles(t, p, unix.RLIM_INFINITY)
	until(t, patience, "a node with room again is not ready", func() bool { return readyz(t, p) == http.StatusOK })
	from = phase(2 * time.Second)
	for _, post := range load.Posts(0)[from:] {
		if post.Status != http.StatusAccepted {
			t.Errorf("a webhook was answered %d with room again", post.Status)
			break
		}
	}
	await(t, load, sink, time.Minute, 1)
}
