package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waiting for what must happen, on a machine that is busy with
// other things.
const patience = time.Minute

const password = "correct horse battery staple"

func settings(t *testing.T) *config.Config {
	cfg := config.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	cfg.NodeID = "n1"
	cfg.Mail.Listen = "127.0.0.1:0"
	cfg.AdminPassword = secret.New(password)
	return cfg
}

// newApp makes a process. How long the steps of its stop may take is held by tests of
// their own: others run on a busy machine, where a step takes longer.
func newApp(t *testing.T, cfg *config.Config, o Options) *App {
	t.Helper()
	o.PasswordCost = identitytest.Cost
	a, err := New(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	a.steps.grace = patience
	return a
}

// start starts a process that the test stops at its end.
func start(t *testing.T, cfg *config.Config) *App {
	t.Helper()
	return startAt(t, cfg, time.Now)
}

func startAt(t *testing.T, cfg *config.Config, clock func() time.Time) *App {
	t.Helper()
	prepare(t, cfg)
	return startWith(t, cfg, Options{Version: "v0", Clock: clock, NewDatabase: true})
}

// prepare gives a process that would begin a SQLite database one that has its schema
// already: to make that takes longer than most tests.
func prepare(t *testing.T, cfg *config.Config) {
	t.Helper()
	if _, err := os.Stat(cfg.DataDir); !cfg.DatabaseURL.IsZero() || !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := os.Mkdir(cfg.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	dbtest.SQLiteFile(t, cfg.DataDir, migrations()...)
}

func startWith(t *testing.T, cfg *config.Config, o Options) *App {
	t.Helper()
	a := newApp(t, cfg, o)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, a) })
	return a
}

func stop(t *testing.T, a *App) {
	t.Helper()
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// get asks a process without keeping the connection.
func get(t *testing.T, url string, edit ...func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	for _, f := range edit {
		f(r)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func asAdmin(r *http.Request) { r.SetBasicAuth("admin", password) }

func TestTwoProcessesAtOnce(t *testing.T) {
	t.Parallel()
	one, two := start(t, settings(t)), start(t, settings(t))
	if one.Addr() == two.Addr() {
		t.Errorf("both listen on %s", one.Addr())
	}
	for _, a := range []*App{one, two} {
		for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/rest/openapi.yaml": 200, "/sign-in": 200, "/rest/none": 404} {
			if status, body := get(t, a.URL()+path); status != want {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	}
}

// What a page's templates lack shows here, not when the page is first requested.
func TestTemplates(t *testing.T) {
	if err := start(t, settings(t)).pages.Check(); err != nil {
		t.Error(err)
	}
}

func TestMetricsNeedAToken(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	if status, _ := get(t, a.URL()+"/metrics"); status != 401 {
		t.Errorf("without a token: %d", status)
	}
	if status, body := get(t, a.URL()+"/metrics", asAdmin); status != 200 || !strings.Contains(body, "go_goroutines") || !strings.Contains(body, "process_resident_memory_bytes") {
		t.Errorf("with one: %d %.200s", status, body)
	}
	cfg := settings(t)
	cfg.Metrics.Public = true
	if status, _ := get(t, start(t, cfg).URL()+"/metrics"); status != 200 {
		t.Errorf("public: %d", status)
	}
}

// With a path in base_url, everything is under it; probes find their paths at
// the root too.
func TestBasePath(t *testing.T) {
	cfg := settings(t)
	cfg.BaseURL = "https://tools.example.com/outrigger/"
	a := start(t, cfg)
	if a.URL() != "https://tools.example.com/outrigger" {
		t.Errorf("the URL is %s", a.URL())
	}
	for path, want := range map[string]int{
		"/outrigger/readyz": 200, "/readyz": 200, "/outrigger/rest/openapi.yaml": 200, "/rest/openapi.yaml": 404,
		"/outrigger/sign-in": 200, "/sign-in": 404,
	} {
		if status, _ := get(t, "http://"+a.Addr()+path); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestTLS(t *testing.T) {
	cfg := settings(t)
	cfg.TLS = tlsFiles(t)
	writeCertificate(t, cfg.TLS, "localhost", time.Now())
	a := start(t, cfg)
	pem, err := os.ReadFile(cfg.TLS.Cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(a.URL() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || !strings.HasPrefix(a.URL(), "https://127.0.0.1:") || resp.ProtoMajor != 2 {
		t.Errorf("%s: %s %s", a.URL(), resp.Status, resp.Proto)
	}
}

// A start that fails leaves nothing behind: its port is free, its database is
// closed, and it says why.
func TestFailedStartIsUndone(t *testing.T) {
	cfg := settings(t)
	first := start(t, cfg)

	a := newApp(t, cfg, Options{})
	if err := a.Start(t.Context()); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a second process on the same data folder: %v", err)
	}
	if _, err := net.Dial("tcp", a.Addr()); err == nil {
		t.Error("its port is still open")
	}
	if status, _ := get(t, first.URL()+"/readyz"); status != 200 {
		t.Errorf("the first process: %d", status)
	}
	if err := a.Start(t.Context()); !errors.Is(err, errStopped) {
		t.Errorf("starting it again: %v", err)
	}
}

func TestPortInUse(t *testing.T) {
	first := start(t, settings(t))
	cfg := settings(t)
	cfg.Listen = first.Addr()
	a := newApp(t, cfg, Options{})
	if err := a.Start(t.Context()); err == nil {
		t.Error("it started on a port in use")
	}
	if _, err := os.Stat(cfg.DataDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has touched its data folder: %v", err)
	}
}

// Not parallel: it measures, and another test may be given the port that it left.
func TestStopAndStartOver(t *testing.T) {
	cfg := settings(t)
	for range 2 {
		a := start(t, cfg)
		if err := a.Start(t.Context()); !errors.Is(err, errStartedBefore) {
			t.Errorf("a second start: %v", err)
		}
		began := time.Now()
		for range 2 {
			if err := a.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("stopping with nothing to do took %v", took)
		}
		if _, err := net.Dial("tcp", a.Addr()); err == nil {
			t.Error("somebody still listens")
		}
	}
}

func TestStopWithoutStart(t *testing.T) {
	a := newApp(t, settings(t), Options{})
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := a.Start(t.Context()); !errors.Is(err, errStopped) {
		t.Errorf("got %v", err)
	}
}

func TestStartIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := newApp(t, settings(t), Options{})
	if err := a.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNewNamesWrongSettings(t *testing.T) {
	cfg := settings(t)
	cfg.Listen, cfg.Log.Level = "nowhere", "loud"
	_, err := New(cfg, Options{})
	if err == nil || !strings.Contains(err.Error(), "listen: ") || !strings.Contains(err.Error(), "log.level: ") {
		t.Errorf("got %v", err)
	}
}

// The steps of a whole process fit in the time of a stop.
func TestStepsFit(t *testing.T) {
	a := start(t, settings(t))
	var sum time.Duration
	for _, s := range a.steps.list {
		sum += s.limit
	}
	if sum > stopTime {
		t.Errorf("the steps may take %v", sum)
	}
	grace := time.Duration(len(a.steps.list)) * graceTime
	if most := stopTime + grace; most > 15*time.Second {
		t.Errorf("a stop may take %v", most)
	}
	if most := handOverTime + grace; most > 8*time.Second {
		t.Errorf("a stop for a successor may take %v", most)
	}
	if share := sendingLimit.Seconds() * handOverTime.Seconds() / stopTime.Seconds(); mailFinishTime.Seconds() > share {
		t.Errorf("clients of the relay may take %v, which is more than %.1f s", mailFinishTime, share)
	}
}

func TestReachable(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:80": "127.0.0.1:80", "0.0.0.0:81": "localhost:81", "[::]:82": "localhost:82", "[::1]:83": "[::1]:83", "192.0.2.1:84": "192.0.2.1:84",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(tcp); got != want {
			t.Errorf("%s is reached at %s, not %s", addr, got, want)
		}
	}
}
