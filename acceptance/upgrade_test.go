package acceptance

import (
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"outrigger/acceptance/stored"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/threads"
)

// storedDatabases runs do for each database that is kept, of every release: each in a
// folder or a PostgreSQL database of its own.
func storedDatabases(t *testing.T, do func(t *testing.T, s *storedDatabase)) {
	t.Helper()
	all, err := filepath.Glob("testdata/stored/*/*")
	if err != nil || len(all) == 0 {
		t.Fatal("there are no stored databases", err)
	}
	for _, from := range all {
		t.Run(filepath.Base(filepath.Dir(from))+" "+filepath.Base(from), func(t *testing.T) {
			t.Parallel()
			do(t, openStored(t, from, databases[filepath.Base(from)](t)))
		})
	}
}

// storedDatabase is a stored database that was put in place, with a world around it.
type storedDatabase struct {
	stored.Details
	world *stored.World
	shift time.Duration // how much later it is than when it was stored
	dir   string
	url   string
}

func openStored(t *testing.T, from, url string) *storedDatabase {
	t.Helper()
	world, err := stored.NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	world.Mail.SetFaultMode(smarthost.Away)
	s := &storedDatabase{world: world, dir: t.TempDir(), url: url}
	if s.Details, s.shift, err = stored.Load(t.Context(), from, s.dir, url); err != nil {
		t.Fatal(err)
	}
	return s
}

// process is a program on the stored database, not started.
func (s *storedDatabase) process(t *testing.T, program string) *loadtest.Process {
	t.Helper()
	if notBuilding != nil {
		t.Fatal(notBuilding)
	}
	p, err := stored.Process(program, s.dir, s.url, s.world)
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

// everythingIsThere holds what a program answers against what was answered when the
// database was stored.
func (s *storedDatabase) everythingIsThere(t *testing.T, p *loadtest.Process) {
	t.Helper()
	today, err := stored.Take(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	lost := s.Inventory.Missing(today, s.shift)
	for _, l := range lost[:min(len(lost), 20)] {
		t.Error(l)
	}
	if len(lost) > 20 {
		t.Errorf("and %d more", len(lost)-20)
	}
}

// usersSignIn signs users in, one of them with a second factor, whose code counts
// once, and asks with a token.
func (s *storedDatabase) usersSignIn(t *testing.T, p *loadtest.Process) {
	t.Helper()
	for _, user := range []string{"ada", "bob", "cyd"} {
		if err := s.Secrets.SignIn(t.Context(), p.Addr(), user); err != nil {
			t.Error(err)
		}
	}
	if err := s.Secrets.SignIn(t.Context(), p.Addr(), "dan"); err == nil {
		t.Error("dan, who is disabled, was signed in")
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Addr()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Secrets.Tokens["monitor"])
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the token for monitoring is answered %s", resp.Status)
	}
}

// whatWaitedGoesOut has the proxy, the channels and the smarthost recover, and the
// migration continue: all of it goes out, and nothing of it twice.
func (s *storedDatabase) whatWaitedGoesOut(t *testing.T, p *loadtest.Process) {
	t.Helper()
	if n := len(s.world.Messages()) + len(s.world.Mail.Messages()); n > 0 {
		t.Errorf("%d messages went out before anything recovered", n)
	}
	if err := stored.SetProxy(t.Context(), p, s.world.Proxy()); err != nil {
		t.Fatal(err)
	}
	waited := s.Inventory.Waiting()
	total := func(counts map[string]int) (n int) {
		for _, c := range counts {
			n += c
		}
		return n
	}
	until(t, patience, "messages do not arrive", func() bool {
		if err := p.RetryWaiting(t.Context()); err != nil {
			t.Fatal(err)
		}
		return total(s.world.Messages()) >= total(waited)
	})
	s.world.Mail.SetFaultMode(smarthost.Accepts)
	until(t, patience, "mail does not arrive", func() bool {
		order(t, p, "/rest/outrigger/1.0/mail/flush", `{}`)
		return mailStatus(t, p) == sizes{ErrorSize: stored.Refused}
	})
	order(t, p, "/rest/threaded-comments/1.0/migration/continue", "")
	if st, err := p.Threads().Follow(t.Context(), nil, threads.PhaseProcessing); err != nil || st.Phase != threads.PhaseCompleted || st.Progress.Processed != st.Progress.Total {
		t.Errorf("the migration: %+v, %v", st, err)
	}
	// By now a second one of anything would have come.
	if got := s.world.Messages(); !maps.Equal(got, waited) {
		t.Errorf("arrived at the channels: %v, waited: %v", got, waited)
	}
	ids := messageIDs(s.world.Mail)
	if counts := slices.Collect(maps.Values(ids)); len(counts) != stored.Queued || slices.Max(counts) != 1 {
		t.Errorf("mail arrived: %v", ids)
	}
}

// TestUpgrade starts today's program on the databases that releases left: everything
// is there, and what waited goes out once.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	storedDatabases(t, func(t *testing.T, s *storedDatabase) {
		p := s.process(t, binary)
		start(t, p)
		s.everythingIsThere(t, p)
		s.usersSignIn(t, p)
		s.whatWaitedGoesOut(t, p)
	})
}
