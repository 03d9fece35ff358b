package acceptance

import (
	"context"
	"os"
	"testing"
	"time"

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
)

// binary is the program, built once for all tests, or why it is not there.
var (
	binary      string
	notBuilding error
)

func TestMain(m *testing.M) {
	if os.Getenv(diesAtEnv) != "" {
		startAndDie()
		return
	}
	dir, err := os.MkdirTemp("", "outrigger-acceptance-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary, notBuilding = loadtest.Build(context.Background(), dir)
	m.Run()
}

// databases are the two kinds: each gives the URL of a fresh one.
var databases = map[string]func(t *testing.T) string{
	"sqlite":   func(*testing.T) string { return "" },
	"postgres": func(t *testing.T) string { return dbtest.PostgresURL(t) },
}

// node prepares a node in a folder of its own. It does not outlive the test.
func node(t *testing.T, s loadtest.Settings) *loadtest.Process {
	t.Helper()
	return nodeOf(t, binary, s)
}

// nodeOf is node with a program of its own.
func nodeOf(t *testing.T, binary string, s loadtest.Settings) *loadtest.Process {
	t.Helper()
	if notBuilding != nil {
		t.Fatal(notBuilding)
	}
	s.Dir = t.TempDir()
	p, err := loadtest.New(binary, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the end of the log of %s:\n%s", p.Addr(), p.Log())
		}
	})
	return p
}

// startTime is how long a node may take to become ready on a busy machine.
const startTime = 90 * time.Second

// patience bounds waiting for what must happen; how soon it does on a machine that
// is busy with other things is no promise.
const patience = 2 * time.Minute

func start(t *testing.T, p *loadtest.Process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	if _, err := p.Start(ctx); err != nil {
		t.Fatal(err)
	}
}

func newSink(t *testing.T, channels int) *loadtest.Sink {
	t.Helper()
	sink, err := loadtest.NewSink(channels)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	return sink
}

// saveMixedRules saves a rule for every channel. What a quarter of them take is
// decided behind the webhook.
func saveMixedRules(t *testing.T, p *loadtest.Process, channels int, sink *loadtest.Sink) {
	t.Helper()
	for c := range channels {
		rule := loadtest.ChannelRule(c, sink.URL())
		if c%4 == 0 {
			rule.BranchMask = `(?!never/).*`
		}
		if _, err := p.SaveRule(t.Context(), rule); err != nil {
			t.Fatal(err)
		}
	}
}

// background runs the load until the function that it gives is called.
func background(t *testing.T, load *loadtest.Load, rate float64) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		load.Run(ctx, rate)
	}()
	return func() {
		cancel()
		<-done
	}
}

// pass lets real time pass: these tests watch processes that run by it.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

// await waits until nothing acknowledged is missing, at most for limit, and
// holds the verdict to what is promised: nothing missing, in order, and no
// channel repeated more often than crashes allow.
func await(t *testing.T, load *loadtest.Load, sink *loadtest.Sink, limit time.Duration, crashes int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	v := loadtest.Await(ctx, load, sink)
	t.Log(v)
	if v.Acknowledged == 0 {
		t.Error("nothing was acknowledged")
	}
	if v.Missing > 0 || v.Disordered > 0 {
		t.Error("acknowledged events are missing or out of order")
	}
	if v.MostRepeated > crashes {
		t.Errorf("an event a crash and channel may be repeated, not %d after %d crashes", v.MostRepeated, crashes)
	}
	if n := sink.Strange(); n > 0 {
		t.Errorf("%d cards held no event of their channel", n)
	}
}
