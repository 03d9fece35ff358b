package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/playground/tokens"
)

const (
	mailbox      = "jira@example.com"
	mailSecret   = "s3cret-of-the-mail-application"
	firstRefresh = "refresh-of-the-first-consent"
)

// tokenMails is how many messages are sent with tokens: TEST_TOKEN_MAILS, or 200.
func tokenMails(t *testing.T) int {
	t.Helper()
	text, ok := os.LookupEnv("TEST_TOKEN_MAILS")
	if !ok {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("TEST_TOKEN_MAILS: %v", err)
	}
	return n
}

// mailProvider is Dovecot, which takes tokens of a provider, before a server that
// keeps what comes.
type mailProvider struct {
	*tokens.Provider
	url    string
	server *mailServer
	sink   *smarthost.Host

	mu     sync.Mutex
	unread func() // is called in place of an answer of the token endpoint; nil: it answers
}

func startMailProvider(t *testing.T, mechanisms string) *mailProvider {
	t.Helper()
	p := &mailProvider{Provider: tokens.New(tokens.Options{ClientID: "app", Secret: mailSecret, Refresh: firstRefresh, Mailbox: mailbox})}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url = s.URL
	sink, relay := smarthostAt(t, 100_000)
	p.sink, p.server = sink, startDovecot(t, mechanisms, s.URL+"/introspect", relay)
	return p
}

func (p *mailProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	unread := p.unread
	if r.URL.Path == "/token" {
		p.unread = nil
	}
	p.mu.Unlock()
	if unread == nil || r.URL.Path != "/token" {
		p.Provider.ServeHTTP(w, r)
		return
	}
	p.Provider.ServeHTTP(httptest.NewRecorder(), r)
	unread()
}

// answersNobody has what the next request for a token is answered with be read by
// nobody: instead is called.
func (p *mailProvider) answersNobody(instead func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unread = instead
}

// settings are those of a node that sends there.
func (p *mailProvider) settings(grant string, s loadtest.Settings) loadtest.Settings {
	s.CAFile = p.server.certificate()
	s.MailMore = fmt.Sprintf("smarthost_user: %s\noauth:\n  token_url: %s/token\n  client_id: app\n  client_secret: %s\n  grant: %s\n", mailbox, p.url, mailSecret, grant)
	if grant == "refresh_token" {
		s.MailMore += "  refresh_token: " + firstRefresh + "\n"
	}
	return s
}

// endTokens ends every token, and the sessions that were opened with them.
func (p *mailProvider) endTokens(t *testing.T) {
	t.Helper()
	p.EndTokens()
	p.server.hangUp(t, mailbox)
}

// arrived waits until nothing waits at the nodes, and compares: nothing is in an
// error queue, and nothing lost. What was in flight when a session or a process
// ended may have come twice.
func (p *mailProvider) arrived(t *testing.T, n, repeats int, nodes ...*loadtest.Process) {
	t.Helper()
	for _, node := range nodes {
		flushed := time.Time{}
		until(t, patience, "messages still wait", func() bool {
			s := mailStatus(t, node)
			if s.ErrorSize > 0 {
				t.Fatalf("%d messages are in the error queue: %s", s.ErrorSize, outrigger(t, node, "mail", "list", "--state", "error"))
			}
			if time.Since(flushed) > time.Second { // what a session ended with is due in a minute
				order(t, node, "/rest/outrigger/1.0/mail/flush", `{}`)
				flushed = time.Now()
			}
			return s.Size == 0
		})
	}
	ids := messageIDs(p.sink)
	if len(ids) != n || p.sink.Count() > int64(n+repeats) {
		t.Errorf("%d messages arrived, %d of them once or more; %d were sent, and %d may be repeated", p.sink.Count(), len(ids), n, repeats)
	}
}

// heldFor is why a node's mail waits.
func heldFor(t *testing.T, p *loadtest.Process, node string) string {
	t.Helper()
	var list struct {
		Items []struct{ NodeID, HeldFor string }
	}
	ask(t, p, "/rest/outrigger/1.0/mail", &list)
	for _, q := range list.Items {
		if q.NodeID == node {
			return q.HeldFor
		}
	}
	return ""
}

// saysWhy fails t unless everything that tells of a node's mail tells why it
// waits.
func saysWhy(t *testing.T, p *loadtest.Process, node, why string) {
	t.Helper()
	until(t, patience, "the node does not say "+why, func() bool { return strings.Contains(heldFor(t, p, node), why) })
	for what, says := range map[string]func() string{
		"mail status":  func() string { return outrigger(t, p, "mail", "status") },
		"the metrics":  func() string { return answered(t, p, http.DefaultClient, "/metrics") },
		"the overview": func() string { return answered(t, p, console(t, p), "/") },
		"the log":      func() string { return wholeLog(t, p) },
	} {
		// For a moment after each pause, while sending is tried again, there is none.
		until(t, patience, what+" does not say "+why, func() bool { return strings.Contains(says(), why) })
	}
}

// answered is what a node answers to a GET, as admin.
func answered(t *testing.T, p *loadtest.Process, client *http.Client, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if client == http.DefaultClient {
		r.SetBasicAuth("admin", loadtest.AdminPassword)
		r.Close = true
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", path, resp.Status, err)
	}
	return string(body)
}

// noAttempts fails t where a message that waits at a node was tried.
func noAttempts(t *testing.T, p *loadtest.Process, n int) {
	t.Helper()
	var list struct{ Items []struct{ SendCount int } }
	ask(t, p, "/rest/outrigger/1.0/mail/messages?limit=1000", &list)
	if len(list.Items) != min(n, 1000) {
		t.Errorf("%d messages wait, want %d", len(list.Items), n)
	}
	for _, m := range list.Items {
		if m.SendCount != 0 {
			t.Fatal("an attempt counts, though nobody was signed in")
		}
	}
}
