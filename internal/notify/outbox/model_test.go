package outbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/deciding"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
)

// modelChecks is how many histories are tried where the flag says nothing.
const modelChecks = 15

// TestModel plays histories of events, crashes, lost leases, hand-overs, bad
// answers and changes of rules against the store of each database, and then
// asks the chat platform for every message: none is lost, none is there twice
// but for a crash, and those of a channel came in their order.
func TestModel(t *testing.T) {
	defer dbtest.Checks(modelChecks)()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		box, err := secret.Open(t.Context(), d, bytes.Repeat([]byte{7}, 32), nil)
		if err != nil {
			t.Fatal(err)
		}
		run := 0
		play := func(steady, alone bool) func(t *testing.T) {
			return func(t *testing.T) {
				rapid.Check(t, func(r *rapid.T) {
					run++
					m := newModel(t, d, box, run, alone)
					defer m.end()
					m.begin(r)
					r.Repeat(m.steps(steady))
					m.settle(r)
					m.judge(r, steady)
				})
			}
		}
		t.Run("steady rules", play(true, true))
		t.Run("changing rules", play(false, true))
		if d.Dialect() == db.Postgres {
			t.Run("steady rules, two nodes", play(true, false))
			t.Run("changing rules, two nodes", play(false, false))
		}
	}, secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
}

// model is one history.
type model struct {
	t     *testing.T
	d     *db.DB
	box   *secret.Box
	run   int
	alone bool
	// digestAbove is how many wait before they go as digests; 0: never.
	digestAbove int

	shards []int        // of the channels of the three URLs
	node   *modelNode   // who holds them
	other  *store.Store // a node without shards, where there are two
	nodes  []*modelNode // all that there were
	rules  []notify.RuleInfo
	urls   []string // of the rules, "" for one that was deleted

	counters []*prometheus.Registry // of every process
	events   []*modelEvent
	breaks   int // crashes and lost leases: each may repeat a message a channel
	changes  int // of rules: each may repeat the one that was under way
	sink     modelSink
}

// modelEvent is an event that was acknowledged.
type modelEvent struct {
	name  string
	wants int            // channels that it goes to
	takes int            // rules that it is for, which may get channels of their own
	off   map[int64]bool // whether a rule that took it, by id, was off since
	ended bool           // it was cancelled, or may have expired
	// refuses is the rule whose mask refuses it once that is decided; 0: none.
	refuses int64
}

// modelSink is the chat platform.
type modelSink struct {
	mu    sync.Mutex
	mode  map[string]int      // status by host
	taken map[string][]string // events of messages answered 2xx by host, in order
	posts map[string][]string // those messages
	fives map[string]int      // server errors by message
}

// modelNode is a process: its memory, its outbox, its leases.
type modelNode struct {
	*store.Store
	m       *model
	outbox  *Outbox
	decider *deciding.Decider
	cut     atomic.Bool // killed: nothing of it gets out any more
	leases  *db.Leases
	stop    context.CancelFunc
	ended   sync.WaitGroup
}

func newModel(t *testing.T, d *db.DB, box *secret.Box, run int, alone bool) *model {
	return &model{t: t, d: d, box: box, run: run, alone: alone, sink: modelSink{
		mode: make(map[string]int), taken: make(map[string][]string), posts: make(map[string][]string), fives: make(map[string]int),
	}}
}

func (m *model) store(r *rapid.T) *store.Store {
	s := store.New(m.d, m.box, slog.New(slog.DiscardHandler))
	s.UsePlatforms(notify.Connections{{Name: m.connection()}}, nil)
	counters := prometheus.NewRegistry()
	s.Measure(counters)
	m.counters = append(m.counters, counters)
	if err := s.Load(m.t.Context()); err != nil {
		r.Fatal(err)
	}
	return s
}

// begin creates the rules and starts the first process.
func (m *model) begin(r *rapid.T) {
	m.node = &modelNode{Store: m.store(r)}
	m.other = m.node.Store
	m.rules, m.urls = make([]notify.RuleInfo, 3), make([]string, 3)
	for k := range m.rules {
		m.save(r, k, k, true)
		if shard := notify.ShardOf(m.rules[k].ChannelID); !slices.Contains(m.shards, shard) {
			m.shards = append(m.shards, shard)
		}
	}
	m.changes = 0
	m.digestAbove = rapid.SampledFrom([]int{0, 2}).Draw(r, "digests above")
	m.start(r)
}

// start has a new process take the shards over, whatever the last one thinks.
func (m *model) start(r *rapid.T) {
	n := &modelNode{Store: m.store(r), m: m, leases: db.NewLeases(m.d, "node", nil)}
	n.leases.Time, n.leases.Every = time.Hour, time.Hour // only a successor ends them
	n.outbox = New(Options{
		Queue: n, Client: n, Message: func(_ context.Context, d *notify.Delivery) []byte { return []byte(d.Event.URL) },
		Digest: digestLines, DigestAbove: m.digestAbove, Limits: notify.Limits{MaxAge: time.Hour, MaxWaiting: 1000},
		Alone: m.alone, Rate: 1e6, Burst: 1e6, Clock: time.Now, Random: func() float64 { return 0 }, Log: slog.New(slog.DiscardHandler),
	})
	n.decider = deciding.New(deciding.Options{
		Queue: n, Memberships: notify.NoMemberships{}, Holding: n.outbox.Holding, Log: slog.New(slog.DiscardHandler),
	})
	n.OnChange(func(deliveries []*notify.Delivery) {
		n.outbox.Enqueued(deliveries)
		n.decider.Enqueued(deliveries)
	}, n.outbox.Moved)
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	n.decider.Start(ctx)
	n.ended.Go(func() {
		<-ctx.Done()
		n.decider.Stop()
	})
	m.node, m.nodes = n, append(m.nodes, n)
	if err := n.leases.Start(ctx); err != nil {
		r.Fatal(err)
	}
	for _, shard := range m.shards {
		lease, err := n.leases.Acquire(ctx, fmt.Sprintf("outbox/%02d", shard))
		if err != nil || lease == nil {
			r.Fatalf("lease %v, %v", lease, err)
		}
		n.ended.Go(func() { n.outbox.runShard(ctx, shard, lease) })
	}
	n.ended.Go(func() { n.lookAtGained(ctx) })
	if !m.alone {
		m.other = m.store(r)
		n.ended.Go(func() { n.poll(ctx) })
	}
}

// digestLines is a digest with room for four events, a line each.
func digestLines(_ context.Context, deliveries []*notify.Delivery) (lines []byte, taken int) {
	taken = min(len(deliveries), 4)
	for i, d := range deliveries[:taken] {
		if i > 0 {
			lines = append(lines, '\n')
		}
		lines = append(lines, d.Event.URL...)
	}
	return lines, taken
}

// lookAtGained is what finds the work of before in shards that the node got.
func (n *modelNode) lookAtGained(ctx context.Context) {
	for {
		select {
		case <-n.outbox.gained:
			_ = n.outbox.wakeChannels(ctx, n.outbox.takeFresh())
		case <-ctx.Done():
			return
		}
	}
}

// poll is what finds the work that other nodes wrote.
func (n *modelNode) poll(ctx context.Context) {
	for ctx.Err() == nil {
		_ = n.outbox.wakeChannels(ctx, n.outbox.Holding())
		<-time.After(3 * time.Millisecond)
	}
}

func (n *modelNode) SaveResult(ctx context.Context, r *notify.Result) error {
	if n.cut.Load() {
		return fault.New(fault.Conflict, "The process is dead.")
	}
	return n.Store.SaveResult(ctx, r)
}

func (n *modelNode) Settle(ctx context.Context, settlements []*notify.Settlement) error {
	if n.cut.Load() {
		return fault.New(fault.Conflict, "The process is dead.")
	}
	return n.Store.Settle(ctx, settlements)
}

// Do is a request to the chat platform, which takes a moment.
func (n *modelNode) PostJSON(_ context.Context, target string, body []byte) (*http.Response, error) {
	host := hostOf(target)
	if n.cut.Load() {
		return nil, io.ErrUnexpectedEOF
	}
	<-time.After(rand.N(2 * time.Millisecond))
	s := &n.m.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.mode[host]
	switch {
	case status == 0:
		status = http.StatusAccepted
		s.taken[host] = append(s.taken[host], strings.Split(string(body), "\n")...)
		s.posts[host] = append(s.posts[host], string(body))
	case status >= 500:
		for name := range strings.SplitSeq(string(body), "\n") {
			s.fives[name]++
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {"0.003"}}, Body: http.NoBody}, nil
}

func (m *model) end() {
	for _, n := range m.nodes {
		n.stop()
	}
	for _, n := range m.nodes {
		n.ended.Wait()
		n.leases.Stop()
	}
	for _, rule := range m.rules { // so that other histories have theirs to themselves
		if rule.ID != 0 {
			_ = m.node.DeleteRule(context.Background(), notify.Actor{Name: "test"}, rule.ID, 0)
		}
	}
}

// patience bounds waiting for what must happen, on a machine that is busy with
// other things.
const patience = time.Minute

// settle mends everything and waits until nothing waits.
func (m *model) settle(r *rapid.T) {
	m.sink.mu.Lock()
	clear(m.sink.mode)
	m.sink.mu.Unlock()
	var mended time.Time
	for until := time.Now().Add(patience); ; {
		if time.Since(mended) > 3*time.Second {
			mended = time.Now()
			m.reopen(r)
		}
		if err := m.node.outbox.wakeChannels(m.t.Context(), m.node.outbox.Holding()); err != nil {
			r.Fatal(err)
		}
		m.node.decider.Wake()
		waiting := m.unfinished(r, m.node.Store)
		if len(waiting) == 0 {
			return
		}
		if time.Now().After(until) {
			r.Fatalf("%d messages are stuck, such as %d of rules %v on channel %d", len(waiting), waiting[0].ID, waiting[0].Rules, waiting[0].ChannelID)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// reopen tries every channel again, which opens the gates and brings forward
// what was set aside. What was on its way meanwhile may close one once more.
func (m *model) reopen(r *rapid.T) {
	for k := range m.rules {
		if m.urls[k] != "" {
			m.retry(r, k, notify.RetryAll)
		}
	}
}

// retry tries the channel of rule k again.
func (m *model) retry(r *rapid.T, k int, which notify.RetryMode) {
	if _, err := m.front(r).RetryChannel(m.t.Context(), notify.Actor{Name: "test"}, m.rules[k].ChannelID, which); err != nil {
		r.Fatal(err)
	}
}
