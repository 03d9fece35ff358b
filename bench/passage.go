package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"outrigger/internal/loadtest"
)

const (
	// channels are as many as connections: each client has one, as the
	// architecture's figures were measured.
	channels    = 256
	connections = 256
	// fewConnections are as many as a platform really opens.
	fewConnections = 16

	// arrivalTime is how long what was acknowledged may be on its way after
	// the load ended, before it counts as missing.
	arrivalTime = 2 * time.Minute
)

func (b *bench) sqlite(ctx context.Context) {
	b.rate = b.durable(ctx, "SQLite", loadtest.Settings{}, 0.40, "at most 200, 16 kB")
}

func (b *bench) postgres(ctx context.Context) {
	if s, ok := b.postgresNode(ctx, "PostgreSQL"); ok {
		b.durable(ctx, "PostgreSQL", s, 0.3, "")
	}
}

// durable measures events in to notifications out, beside the forwarder. It gives
// the rate.
func (b *bench) durable(ctx context.Context, name string, s loadtest.Settings, hold float64, allocations string) float64 {
	bare := b.startForwarder(ctx)
	p, node := b.receiver(ctx, s, channels)
	b.compare(ctx, fewConnections, bare, node)
	few, acknowledged := node.rate()/bare.rate(), node.load.Acknowledged()
	times, bytes := allocated(ctx, p)
	b.compare(ctx, connections, bare, node)
	timesAfter, bytesAfter := allocated(ctx, p)
	events := float64(node.load.Acknowledged() - acknowledged)
	b.row(name+": events in to notifications out", fmt.Sprintf("%.0f/s (forwarder %.0f/s)", node.rate(), bare.rate()), "")
	b.row(name+": share of the forwarder's rate",
		fmt.Sprintf("%.2f (%.2f with %d connections)", node.rate()/bare.rate(), few, fewConnections), fmt.Sprintf("at least %.2f", hold))
	b.row(name+": processor time an event", fmt.Sprintf("%.1f times the forwarder's (%s and %s)",
		float64(node.each())/float64(bare.each()), micros(node.each()), micros(bare.each())), "at most 3.2 times")
	b.row(name+": allocations an event",
		fmt.Sprintf("%.0f, %.1f kB", (timesAfter-times)/events, (bytesAfter-bytes)/events/1000), allocations)
	b.acknowledgements(ctx, name, node)
	b.row(name+": most resident memory", mib(must(loadtest.PeakResident(p.PID()))), "under 100 MiB")
	return node.rate()
}

// subject is a program that is sent webhooks.
type subject struct {
	meter
	load *loadtest.Load
	sink *loadtest.Sink
}

func newSubject(load *loadtest.Load, sink *loadtest.Sink, pid func() int) *subject {
	s := &subject{load: load, sink: sink}
	s.cpu = func() (time.Duration, error) { return loadtest.CPU(pid()) }
	s.work = func(ctx context.Context, about time.Duration) int {
		before := load.Acknowledged()
		s.run(ctx, about, 0)
		return load.Acknowledged() - before
	}
	return s
}

// receiver starts a node that has a rule for each channel of its load.
func (b *bench) receiver(ctx context.Context, s loadtest.Settings, channels int) (*loadtest.Process, *subject) {
	sink, p := b.sink(channels), b.node(ctx, s)
	check(p.SaveChannelRules(ctx, channels, sink.URL()))
	return p, newSubject(loadtest.NewLoad(channels, connections, p.Addr()), sink, p.PID)
}

// compare runs subjects in turn, at full speed by so many connections.
func (b *bench) compare(ctx context.Context, connections int, one, other *subject) {
	one.load.Connections, other.load.Connections = connections, connections
	b.inTurn(ctx, &one.meter, &other.meter)
}

// run posts for a while and waits until everything acknowledged has arrived, so
// that what is taken quickly and delivered slowly counts as slow.
func (s *subject) run(ctx context.Context, took time.Duration, rate float64) {
	posting, cancel := context.WithTimeout(ctx, took)
	defer cancel()
	s.load.Run(posting, rate)
	s.arrived(ctx)
}

func (s *subject) arrived(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, arrivalTime)
	defer cancel()
	if v := loadtest.Await(ctx, s.load, s.sink); v.Missing+v.Disordered+v.Repeated > 0 {
		check(errors.New(v.String()))
	}
}

// allocated is what a node has taken from its allocator since it started: how often,
// and how many bytes.
func allocated(ctx context.Context, p *loadtest.Process) (times, bytes float64) {
	figures := must(p.Metrics(ctx))
	of := func(name string) float64 { return figures[name].GetMetric()[0].GetCounter().GetValue() }
	return of("go_memstats_mallocs_total"), of("go_memstats_alloc_bytes_total")
}

// quietRates are loads, in events a second, that leave a node time to spare.
var quietRates = []float64{100, 500, 2000}

// acknowledgements measures how long senders wait, and messages take: at half of
// the rate that a node was measured with, and at quiet rates.
func (b *bench) acknowledgements(ctx context.Context, name string, node *subject) {
	began := time.Now()
	node.run(ctx, b.took, node.rate()/2)
	answers, ways := node.load.Answers(began), loadtest.Ways(node.load, node.sink, nil, began)
	b.row(name+": p99 of the acknowledgement at half that rate",
		fmt.Sprintf("%s (a bare sync of the disk %s)", millis(loadtest.Quantile(answers, 0.99)), millis(b.disk())), "under 50 ms")
	b.row(name+": p99 of the arrival at half that rate", millis(loadtest.Quantile(ways, 0.99)), "")
	for _, rate := range quietRates {
		began := time.Now()
		node.run(ctx, b.took, rate)
		answers := node.load.Answers(began)
		b.row(fmt.Sprintf("%s: acknowledgement at %.0f/s", name, rate),
			fmt.Sprintf("p50 %s, p99 %s", millis(median(answers)), millis(loadtest.Quantile(answers, 0.99))), "")
	}
}

const (
	// syncs are how many times the disk is asked: its slowest hundredth is
	// still a few of them.
	syncs = 400
	// syncBlock is about what a commit of a few events writes.
	syncBlock = 16 << 10
)

// disk is the p99 of a bare write and sync on the disk that the nodes use: what
// no acknowledgement can be quicker than.
func (b *bench) disk() time.Duration {
	f := must(os.Create(filepath.Join(b.dir, "sync")))
	defer f.Close()
	block := make([]byte, syncBlock)
	took := make([]time.Duration, syncs)
	for i := range took {
		began := time.Now()
		must(f.Write(block))
		check(f.Sync())
		took[i] = time.Since(began)
	}
	return loadtest.Quantile(took, 0.99)
}
