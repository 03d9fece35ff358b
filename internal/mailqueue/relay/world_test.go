package relay

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtpclient"
	"outrigger/internal/mailqueue/relay/smtpd"
	"outrigger/internal/playground/smarthost"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const node = "node_1"

// world is a relay between a client and a smarthost that is played.
type world struct {
	t      testing.TB
	db     *db.DB
	leases *db.Leases
	queue  *Queue
	server *smtpd.Server
	sender *Sender
	host   *faulty
	addr   string // of the relay
}

// setup says what differs from an ordinary world.
type setup struct {
	node   string
	host   smarthost.Options
	server func(*smtpd.Options)
	users  identity.Authenticator
	sender func(*SenderOptions)
	renew  bool // leases, as often as in earnest
	noSend bool
}

func always(context.Context) (int, int, error) { return 1, 1, nil }

// newWorld starts everything on a migrated database.
func newWorld(t testing.TB, d *db.DB, o setup) *world {
	t.Helper()
	if o.node == "" {
		o.node = node
	}
	w := &world{t: t, db: d, leases: db.NewLeases(d, o.node, nil)}
	must(t, w.leases.Start(t.Context()))
	t.Cleanup(w.leases.Stop)
	w.queue = newQueue(t, d, w.leases, o.node)
	w.host = newFaulty(withKeep(o.host))
	t.Cleanup(w.host.Close)
	hostAddr := serve(t, w.host.Serve)
	w.server = newServer(w.queue, o)
	w.server.Open()
	w.addr = serve(t, w.server.Serve)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := w.server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	no := SenderOptions{Smarthost: &smtpclient.Smarthost{Address: hostAddr, TLS: smtpclient.NoTLS, Hostname: "relay.example"}, Connections: 8, Members: always}
	if o.sender != nil {
		o.sender(&no)
	}
	w.sender = NewSender(w.queue, no)
	if !o.noSend {
		must(t, w.sender.Start(t.Context()))
		t.Cleanup(w.sender.Stop)
	}
	return w
}

// newServer takes mail in for a queue.
func newServer(q *Queue, o setup) *smtpd.Server {
	in := NewIntake(q, IntakeOptions{Hostname: "relay.example", Identity: o.users})
	so := smtpd.Options{
		Hostname: "relay.example", MaxMessage: 25 << 20, MaxRecipients: 1000, MaxClients: 200,
		PlainAuth: true, Backend: in, Refused: in.Refused,
	}
	if o.server != nil {
		o.server(&so)
	}
	return smtpd.New(so)
}

func withKeep(o smarthost.Options) smarthost.Options {
	if o.Keep == 0 {
		o.Keep = 1 << 20
	}
	return o
}

func newQueue(t testing.TB, d *db.DB, leases *db.Leases, node string) *Queue {
	t.Helper()
	q, err := New(d, Options{NodeID: node, Leases: leases, Dir: t.TempDir()})
	must(t, err)
	must(t, q.Start(t.Context()))
	return q
}

// serve has f serve on a free port of loopback.
func serve(t testing.TB, f func(net.Listener) error) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- f(l) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-done; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Errorf("serving: %v", err)
		}
	})
	return l.Addr().String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// each runs fn on both databases.
func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Helper()
	dbtest.Each(t, fn, audit.Migrations, Migrations)
}

func sqlite(t testing.TB) *db.DB {
	t.Helper()
	d := dbtest.SQLite(t, audit.Migrations, Migrations)
	must(t, d.Migrate(t.Context(), audit.Migrations, Migrations))
	return d
}

// patience bounds waiting for what must happen, on a machine that is busy with
// other things.
const patience = time.Minute

// until waits for a condition that something brings about.
func (w *world) until(what string, met func() bool) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !met() {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (w *world) sizes(size, errors int64) {
	w.t.Helper()
	got, err := w.queue.Sizes(w.t.Context())
	must(w.t, err)
	if want := (mailqueue.Sizes{Size: size, ErrorSize: errors}); got != want {
		w.t.Fatalf("sizes are %+v, want %+v", got, want)
	}
	w.consistent()
}

// consistent compares the counts with the messages themselves.
func (w *world) consistent() {
	w.t.Helper()
	got, err := w.queue.sizesByNode(w.t.Context())
	must(w.t, err)
	want := make(map[string]mailqueue.Sizes)
	for node := range got {
		want[node] = mailqueue.Sizes{}
	}
	list, err := w.queue.Messages(w.t.Context(), mailqueue.MessageFilter{Limit: 1 << 20})
	must(w.t, err)
	for _, m := range list {
		s := want[m.NodeID]
		for _, state := range m.States {
			if state == mailqueue.Waiting {
				s.Size++
			} else {
				s.ErrorSize++
			}
		}
		want[m.NodeID] = s
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("messages there are (-), and counted (+):\n%s", diff)
	}
}
