package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/rest"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/store"
)

// drafts is a server that takes uploads, and a client of it whose connections
// break as trouble says: after how many bytes of the n-th PATCH; 0 is not at
// all.
type drafts struct {
	*Client
	store   *store.Uploads
	trouble func(n int) int
	patches int
}

func newDrafts(t *testing.T) *drafts {
	t.Helper()
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	// The base URL is how users reach it, which the client here does not.
	router, err := rest.NewRouter(rest.Options{Identity: identitytest.Everybody(), Log: slog.New(slog.DiscardHandler), BaseURL: "https://public.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	f := &drafts{store: store.NewUploads(d), trouble: func(int) int { return 0 }}
	api := &api.Uploads{Store: f.store, Path: uploadsPath, Kinds: []string{"hierarchy", "mappings", "backup"}, Max: 1 << 30}
	api.Register(router)
	t.Cleanup(api.Stop)
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	f.Client = &Client{
		Base: server.URL, HTTP: f, SignIn: func(r *http.Request) { r.SetBasicAuth("root", "x") },
		sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	return f
}

// Do breaks bodies off.
func (f *drafts) Do(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPatch {
		if n := f.trouble(f.patches); n > 0 {
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(r.Body, int64(n)), breaking{}), r.Body}
		}
		f.patches++
	}
	return http.DefaultTransport.RoundTrip(r)
}

type breaking struct{}

func (breaking) Read([]byte) (int, error) { return 0, errReset }

// someFile is a file of n bytes.
func someFile(t *testing.T, name string, n int) (*os.File, []byte) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	content := make([]byte, n)
	for i := range content {
		content[i] = byte(rnd.Uint32())
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file, content
}

// holds checks what the server has of a kind.
func (f *drafts) holds(t *testing.T, kind string, want []byte) {
	t.Helper()
	u, err := f.store.Draft(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f.store.Reader(t.Context(), u))
	if err != nil || !u.Complete() || !bytes.Equal(got, want) {
		t.Errorf("%+v: %d bytes of %d, %v", u, len(got), len(want), err)
	}
}

// has waits until the server has so much of a draft.
func (f *drafts) has(t *testing.T, kind string, n int64) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; <-time.After(time.Millisecond) {
		u, err := f.store.Draft(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		if u.Received >= n {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("the server has %d bytes", u.Received)
		}
	}
}

// However often the way breaks, the file is there whole, and nothing that came
// in is sent again.
func TestUploadSurvives(t *testing.T) {
	f := newDrafts(t)
	for n, size := range []int{0, 1, 1 << 20, 5<<20 + 17} {
		file, content := someFile(t, fmt.Sprint("file", n), size)
		f.patches = 0
		f.trouble = func(n int) int {
			if n < 3 {
				return size/4 + 1
			}
			return 0
		}
		var told int64
		draft, err := f.Upload(t.Context(), "", "hierarchy", file, true, func(done, total int64) { told = done })
		if err != nil || draft.Length != int64(size) || draft.Resumed != 0 || told != int64(size) {
			t.Fatalf("%d bytes: %+v, told %d, %v", size, draft, told, err)
		}
		f.holds(t, "hierarchy", content)
		// The same file again is there already.
		f.patches = 0
		draft, err = f.Upload(t.Context(), "", "hierarchy", file, false, nil)
		if err != nil || draft.Resumed != int64(size) || f.patches != 0 {
			t.Errorf("%d bytes again: %+v in %d parts, %v", size, draft, f.patches, err)
		}
	}
}

// An upload that was ended goes on the next time; another file does not, and is
// only replaced when that is said.
func TestUploadGoesOnTheNextTime(t *testing.T) {
	f := newDrafts(t)
	file, content := someFile(t, "a.json", 3<<20)
	ctx, stop := context.WithCancel(t.Context())
	f.trouble = func(n int) int { return 2 << 20 }
	f.sleep = func(context.Context, time.Duration) error { stop(); return ctx.Err() }
	if _, err := f.Upload(ctx, "", "mappings", file, false, nil); err == nil {
		t.Fatal("it was not ended")
	}
	f.trouble = func(int) int { return 0 }
	f.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	f.has(t, "mappings", 1<<20) // what was sent may be on its way yet

	other, otherContent := someFile(t, "a.json", 3<<20+1)
	if _, err := f.Upload(t.Context(), "", "mappings", other, false, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("another file: %v", err)
	}
	draft, err := f.Upload(t.Context(), "", "mappings", file, false, nil)
	if err != nil || draft.Resumed < 1<<20 || draft.Resumed == draft.Length {
		t.Errorf("%+v, %v", draft, err)
	}
	f.holds(t, "mappings", content)

	// One that is complete is replaced when that is said, as one that is open.
	f.trouble = func(n int) int { return 100 }
	f.sleep = func(context.Context, time.Duration) error { return errReset }
	if _, err := f.Upload(t.Context(), "", "mappings", other, false, nil); err == nil {
		t.Fatal("it was not ended")
	}
	f.trouble = func(int) int { return 0 }
	if _, err := f.Upload(t.Context(), "", "mappings", file, true, nil); err != nil {
		t.Fatal(err)
	}
	f.holds(t, "mappings", content)
	if _, err := f.Upload(t.Context(), "", "mappings", other, false, nil); !fault.Is(err, fault.Conflict) ||
		!strings.Contains(err.Error(), "A mappings file is already here and has not been loaded: a.json from root, begun ") ||
		!strings.Contains(err.Error(), " ago, at https://public.example.com/") {
		t.Errorf("a complete one is replaced without a word: %v", err)
	}
	f.holds(t, "mappings", content)
	if draft, err = f.Upload(t.Context(), "", "mappings", other, true, nil); err != nil {
		t.Fatal(err)
	}
	f.holds(t, "mappings", otherContent)
	for range 2 {
		if err := f.DeleteDraft(t.Context(), draft.ID); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.store.Draft(t.Context(), "mappings"); !fault.Is(err, fault.NotFound) {
		t.Errorf("it was deleted, and there is %v", err)
	}
}

func TestUploadRefused(t *testing.T) {
	f := newDrafts(t)
	file, _ := someFile(t, "a.json", 10)
	_, err := f.Upload(t.Context(), "", "nonsense", file, false, nil)
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "kind must be one of") {
		t.Errorf("an unknown kind: %v", err)
	}
	f.SignIn = nil
	if _, err := f.Upload(t.Context(), "", "mappings", file, false, nil); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("nobody: %v", err)
	}
}
