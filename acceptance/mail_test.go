package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
)

// freeAddress is a free port of this machine.
func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", freePort(t))
}

// ask gets a JSON document of a node as admin.
func ask(t *testing.T, p *loadtest.Process, path string, into any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", loadtest.AdminPassword)
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s, %v", path, resp.StatusCode, body, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, body)
	}
}

// sizes are what the two endpoints of the mail queue say of a queue.
type sizes struct{ Size, ErrorSize int64 }

func mailStatus(t *testing.T, p *loadtest.Process) sizes {
	t.Helper()
	var s sizes
	ask(t, p, "/rest/mailqueue/1.0/status", &s)
	return s
}

// until polls, since the other side is a process of its own.
func until(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); pass(t, 50*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s: %s", limit, what)
		}
	}
}

// smarthostAt plays a smarthost that keeps every message.
func smarthostAt(t *testing.T, keep int) (*smarthost.Host, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := smarthost.New(smarthost.Options{Keep: keep})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = host.Serve(l) // ends with Close
	}()
	t.Cleanup(func() { host.Close(); l.Close(); <-served })
	return host, l.Addr().String()
}

// source runs Postfix's smtp-source: n messages of 4 KB over 20 sessions.
func source(t *testing.T, addr string, n int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "smtp-source", "-s", "20", "-l", "4096", "-m", strconv.Itoa(n),
		"-f", "jira@example.com", "-t", "ada@example.org", "inet:"+addr)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("smtp-source: %v\n%s", err, out)
	}
}

// messageIDs counts how often each Message-ID arrived.
func messageIDs(host *smarthost.Host) map[string]int {
	ids := make(map[string]int)
	for _, m := range host.Messages() {
		for line := range bytes.Lines(m.Data) {
			if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(name, []byte("Message-ID")) {
				ids[string(bytes.TrimSpace(value))]++
				break
			}
		}
	}
	return ids
}

// TestMailQueueFollows sends 10,000 messages with Postfix's own client while
// the smarthost is away, and lets it come back: /status follows up and down to
// 0, nothing is lost and nothing comes twice.
func TestMailQueueFollows(t *testing.T) {
	t.Parallel()
	const n = 10_000
	host, at := smarthostAt(t, n+100)
	host.SetFaultMode(smarthost.Away)
	p := node(t, loadtest.Settings{MailListen: freeAddress(t), Smarthost: at})
	start(t, p)
	if s := mailStatus(t, p); s != (sizes{}) {
		t.Errorf("before anything: %+v", s)
	}
	source(t, p.Settings.MailListen, n)
	if s := mailStatus(t, p); s != (sizes{Size: n}) {
		t.Errorf("with the smarthost away: %+v, want %d waiting", s, n)
	}
	host.SetFaultMode(smarthost.Accepts)
	low := int64(n)
	until(t, 3*time.Minute, "messages still wait", func() bool {
		s := mailStatus(t, p)
		if s.Size > low || s.ErrorSize != 0 {
			t.Fatalf("%+v after %d: the queue can only fall", s, low)
		}
		low = s.Size
		return s.Size == 0
	})
	ids := messageIDs(host)
	if len(ids) != n || host.Count() != n {
		t.Errorf("%d messages with %d ids arrived, want %d", host.Count(), len(ids), n)
	}
}

// TestMailToSink lets Postfix's smtp-sink be the smarthost.
func TestMailToSink(t *testing.T) {
	t.Parallel()
	const n = 2_000
	sink := freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "smtp-sink", "-u", "nobody", "-c", sink, "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	p := node(t, loadtest.Settings{MailListen: freeAddress(t), Smarthost: sink})
	start(t, p)
	source(t, p.Settings.MailListen, n)
	until(t, 2*time.Minute, "messages still wait", func() bool { return mailStatus(t, p) == sizes{} })
}

// TestMailKill kills a node that takes and sends mail, again and again: every
// message that got its 250 arrives, each kill repeats at most those in flight,
// and what was not acknowledged may arrive or not, but never half.
func TestMailKill(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			total := max(kills(t)/4, 10) // 50 where the others do 200
			const inFlight = 8           // mail.connections
			host, at := smarthostAt(t, 1_000_000)
			p := node(t, loadtest.Settings{DatabaseURL: database(t), NodeID: "node_1", MailListen: freeAddress(t), Smarthost: at})
			start(t, p)
			mail := &mailLoad{addr: p.Settings.MailListen}
			stop := mail.run(t, 12)
			killAgain(t, p, total)
			stop()
			until(t, 2*time.Minute, "messages still wait", func() bool { return mailStatus(t, p) == sizes{} })
			mail.check(t, host, total*inFlight)
			p.Kill()
			if p.Settings.DatabaseURL == "" {
				checkIntegrity(t, filepath.Join(p.Settings.Dir, "outrigger.db"))
			}
		})
	}
}

// mailLoad sends numbered messages over SMTP and remembers which got a 250.
type mailLoad struct {
	addr string

	mu           sync.Mutex
	acknowledged map[string]bool
	sent         int
}

func (l *mailLoad) run(t *testing.T, clients int) (stop func()) {
	l.acknowledged = make(map[string]bool)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	for c := range clients {
		done.Go(func() {
			for n := 0; ctx.Err() == nil; {
				n = l.session(ctx, c, n)
				select {
				case <-ctx.Done():
				case <-time.After(10 * time.Millisecond):
				}
			}
		})
	}
	return func() { cancel(); done.Wait() }
}

// check holds what arrived against what was acknowledged.
func (l *mailLoad) check(t *testing.T, host *smarthost.Host, repeats int) {
	t.Helper()
	ids := messageIDs(host)
	missing, repeated := 0, 0
	for id := range l.acknowledged {
		if ids[id] == 0 {
			missing++
		}
	}
	for _, n := range ids {
		repeated += n - 1
	}
	t.Logf("%d acknowledged of %d, %d arrived, %d missing, %d repeated", len(l.acknowledged), l.sent, len(ids), missing, repeated)
	if len(l.acknowledged) == 0 || missing > 0 {
		t.Error("acknowledged messages are missing")
	}
	if repeated > repeats {
		t.Errorf("%d repeats, at most %d are allowed", repeated, repeats)
	}
	for _, m := range host.Messages() {
		if !bytes.HasSuffix(m.Data, []byte("the end\r\n")) {
			t.Errorf("a message arrived in part: %q", m.Data[max(0, len(m.Data)-40):])
			break
		}
	}
}

func (l *mailLoad) id(client, n int) string {
	return fmt.Sprintf("<%d.%d@load.example.com>", client, n)
}
