package acceptance

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/playground/smarthost"
)

// minutes is for how many minutes a provider's rate is kept to in earnest:
// TEST_MINUTES, or none.
func minutes(t *testing.T) int {
	t.Helper()
	text, ok := os.LookupEnv("TEST_MINUTES")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("TEST_MINUTES: %v", err)
	}
	return n
}

// limitedNodes are three nodes that send to a provider with limits, with one
// sign-in.
type limitedNodes struct {
	t        *testing.T
	provider *playgroundtest.MailProvider
	host     *smarthost.Host
	url      string
	nodes    []*loadtest.Process
	more     string // of the settings
	sent     int
}

func startLimited(t *testing.T) *limitedNodes {
	t.Helper()
	l := &limitedNodes{t: t, provider: new(playgroundtest.MailProvider), url: dbtest.PostgresURL(t)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.host = smarthost.New(smarthost.Options{Keep: 10_000, React: l.provider.React})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = l.host.Serve(listener) // ends with Close
	}()
	t.Cleanup(func() { l.host.Close(); <-served })
	key := secretKey()
	l.more = "provider: microsoft365\nrecipients_per_transaction: 1\nconnections: 4\nrate: 0\nquota: 0\n"
	for i := range 3 {
		l.nodes = append(l.nodes, node(t, loadtest.Settings{
			DatabaseURL: l.url, NodeID: fmt.Sprintf("node_%d", i+1), SecretKey: key, Clustered: true,
			MailListen: freeAddress(t), Smarthost: listener.Addr().String(), MailMore: l.more,
		}))
	}
	l.start()
	return l
}

func (l *limitedNodes) start() {
	l.t.Helper()
	for _, p := range l.nodes {
		start(l.t, p)
	}
}

// restart kills all nodes, has them know of other limits, and of what was sent as if
// it had been so much earlier, and starts them.
func (l *limitedNodes) restart(more string, earlier time.Duration) {
	l.t.Helper()
	for _, p := range l.nodes {
		p.Kill()
	}
	for _, p := range l.nodes {
		reconfigure(l.t, p, indented(l.more), indented(more))
	}
	l.more = more
	conn, err := pgx.Connect(l.t.Context(), l.url)
	if err != nil {
		l.t.Fatal(err)
	}
	defer conn.Close(l.t.Context())
	if _, err := conn.Exec(l.t.Context(), `UPDATE relay_spent SET at = at - $1`, int64(earlier.Seconds())); err != nil {
		l.t.Fatal(err)
	}
	l.start()
}

func indented(lines string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n  ")
}

// set changes the limits of the provider.
func (l *limitedNodes) set(change func(p *playgroundtest.MailProvider)) {
	l.provider.Lock()
	defer l.provider.Unlock()
	change(l.provider)
}

// send sends n messages to the nodes in turn.
func (l *limitedNodes) send(n int) {
	l.t.Helper()
	for i, p := range l.nodes {
		source(l.t, p.Settings.MailListen, (n+i)/len(l.nodes))
	}
	l.sent += n
}

// taken waits until the provider has taken n messages of all, and the nodes have noted
// that: a kill before would have one sent again.
func (l *limitedNodes) taken(n int) {
	l.t.Helper()
	until(l.t, patience, fmt.Sprintf("not %d messages arrived", n), func() bool { return l.host.Count() >= int64(n) })
	if got := l.host.Count(); got != int64(n) {
		l.t.Fatalf("%d messages arrived, want %d", got, n)
	}
	until(l.t, patience, "the nodes have not noted what arrived", func() bool {
		var left int64
		for _, p := range l.nodes {
			left += mailStatus(l.t, p).Size
		}
		return left == int64(l.sent-n)
	})
}

// says waits until a node that has mail says why it waits.
func (l *limitedNodes) says(why string, all bool) {
	l.t.Helper()
	for i, p := range l.nodes {
		id := fmt.Sprintf("node_%d", i+1)
		if s := mailStatus(l.t, p); all || s.Size > 0 {
			until(l.t, patience, id+" does not say "+why, func() bool {
				return strings.Contains(heldFor(l.t, p, id), why) || !all && mailStatus(l.t, p) == sizes{}
			})
		}
	}
}

// gone waits until all that was sent has arrived: once, and nothing is in an error
// queue.
func (l *limitedNodes) gone() {
	l.t.Helper()
	for _, p := range l.nodes {
		until(l.t, patience, "messages still wait", func() bool { return mailStatus(l.t, p) == sizes{} })
	}
	if ids := messageIDs(l.host); len(ids) != l.sent || l.host.Count() != int64(l.sent) {
		l.t.Errorf("%d messages arrived, %d of them different, want %d", l.host.Count(), len(ids), l.sent)
	}
}

// refusals is how often the provider answered so about a limit.
func (l *limitedNodes) refusals(about string) (n int) {
	_, refused := l.provider.Counts()
	for _, one := range refused {
		if strings.Contains(one, about) {
			n++
		}
	}
	return n
}

// TestMailWithinLimits has three nodes send to a provider with limits. Where they do
// not know these, they pause together when the provider says so, in its words, and go
// on; where they know them, it need not say so, also after they were killed.
func TestMailWithinLimits(t *testing.T) {
	t.Parallel()
	l := startLimited(t)

	// 60 messages in its minute against 30: those of two nodes, which have the
	// connections at first.
	l.set(func(p *playgroundtest.MailProvider) { p.Rate, p.Minute = 30, 8*time.Second })
	l.send(60)
	l.says("432 4.3.2 STOREDRV.ClientSubmit; sender message rate exceeded", true)
	l.gone()
	if n := l.refusals("message rate"); n > 30 {
		t.Errorf("the provider refused %d messages", n)
	}

	// 4 connections of each node against 3.
	l.set(func(p *playgroundtest.MailProvider) { p.Connections, p.Slow, p.Rate = 3, 50*time.Millisecond, 0 })
	l.send(24)
	until(t, patience, "the provider refused no connection", func() bool { return l.refusals("thread limit") > 0 })
	l.gone()
	if n := l.refusals("thread limit"); n > 40 {
		t.Errorf("the provider refused %d messages for their connections", n)
	}
	l.provider.Forget()

	// The same, and the nodes know it.
	const known = "provider: microsoft365\nrecipients_per_transaction: 1\nquota: 40\n"
	l.set(func(p *playgroundtest.MailProvider) { p.Slow, p.Rate, p.Minute = 0, 30, time.Second })
	l.restart(known, 0)
	before := l.sent
	l.send(35)
	l.taken(before + 30)
	l.says("mail.rate is reached: 30 messages a minute.", false)
	l.restart(known, 70*time.Second)
	l.gone()

	// 40 recipients of a day, over restarts.
	l.send(10)
	l.taken(before + 40)
	l.says("mail.quota is reached: 40 recipients in 24 hours.", false)
	l.restart(known, 23*time.Hour)
	l.says("mail.quota is reached: 40 recipients in 24 hours.", false)
	l.taken(before + 40)
	l.restart(known, 70*time.Minute)
	l.gone()
	if _, refused := l.provider.Counts(); len(refused) > 0 {
		t.Errorf("the provider had to refuse: %q", refused)
	}
	if n := minutes(t); n > 0 {
		l.keepTo(n)
	}
}

// keepTo has the nodes send for so many minutes as many as the provider takes.
func (l *limitedNodes) keepTo(minutes int) {
	l.set(func(p *playgroundtest.MailProvider) { p.Minute = time.Minute })
	l.provider.Forget() // what the nodes take for long ago was just now
	l.restart("provider: microsoft365\nrecipients_per_transaction: 1\n", 25*time.Hour)
	begun, before := time.Now(), l.sent
	l.send(35 * minutes)
	for n := range minutes {
		want := int64(before + 30*(n+1))
		until(l.t, patience, fmt.Sprintf("not %d messages arrived", want), func() bool { return l.host.Count() >= want })
		l.says("mail.rate is reached: 30 messages a minute.", false)
	}
	l.gone()
	if _, refused := l.provider.Counts(); len(refused) > 0 {
		l.t.Errorf("the provider had to refuse: %q", refused)
	}
	l.t.Logf("%d messages took %s", 35*minutes, time.Since(begun).Round(time.Second))
}
