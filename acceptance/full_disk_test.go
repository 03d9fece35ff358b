package acceptance

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
)

// askAdmin sends a request of the administrator.
func askAdmin(t *testing.T, p *loadtest.Process, path string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", loadtest.AdminPassword)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestFullFileSystem has a node under load on a file system of its own, which another
// program fills. Backups that it has no room for are refused, and nothing else is. Once
// it is full, webhooks get 503 and /readyz says how much to free; killed there, the
// node starts with no more room than there was; with room again it goes on, and all
// that was acknowledged arrives.
func TestFullFileSystem(t *testing.T) {
	const channels = 16
	disk := dbtest.NewDisk(t, 96)
	sink := newSink(t, channels)
	p := node(t, loadtest.Settings{DataDir: filepath.Join(disk.Dir, "data")})
	start(t, p)
	if err := p.SaveChannelRules(t.Context(), channels, sink.URL()); err != nil {
		t.Fatal(err)
	}
	load := loadtest.NewLoad(channels, channels, p.Addr())
	answered := func(from int, status int) (n int) {
		for _, post := range load.Posts(0)[from:] {
			if post.Status == status {
				n++
			}
		}
		return n
	}

	stop := background(t, load, 200)
	pass(t, time.Second)
	empty := disk.Fill(t, 8<<20) // of 96
	for range 4 {
		if status, body := askAdmin(t, p, "/rest/outrigger/1.0/backup"); status != http.StatusServiceUnavailable || !strings.Contains(body, "too little space for a backup") {
			t.Errorf("a backup on a nearly full disk: %d %.200s", status, body)
		}
	}
	stop()
	if n := answered(0, http.StatusServiceUnavailable); n > 0 {
		t.Errorf("%d webhooks were refused beside backups", n)
	}
	if left, err := filepath.Glob(filepath.Join(disk.Dir, "data", "*.tmp*")); err != nil || left != nil {
		t.Errorf("the backups left %v, %v", left, err)
	}
	stop = background(t, load, 200)
	disk.Fill(t, 0)
	until(t, patience, "a node on a full disk is ready", func() bool { return readyz(t, p) == http.StatusServiceUnavailable })
	if _, why := askAdmin(t, p, "/readyz"); !strings.Contains(why, "is full") || !strings.Contains(why, "Free at least ") {
		t.Errorf("why it is not ready: %s", why)
	}
	pass(t, 2*time.Second)
	p.Kill()
	stop()
	if answered(0, http.StatusServiceUnavailable) == 0 {
		t.Error("no webhook was refused on a full disk")
	}
	disk.Fill(t, 0)
	start(t, p)
	empty()
	until(t, patience, "a node with room again is not ready", func() bool { return readyz(t, p) == http.StatusOK })
	from := len(load.Posts(0))
	stop = background(t, load, 200)
	pass(t, time.Second)
	stop()
	if got, want := answered(from, http.StatusAccepted), len(load.Posts(0))-from; got != want {
		t.Errorf("with room again %d of %d webhooks were accepted", got, want)
	}
	await(t, load, sink, time.Minute, 2)
}
