package main

import (
	"context"
	"fmt"
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

	// warmUp fills caches and pools, and is not measured.
	warmUp = 2 * time.Second
	// arrivalTime is how long what was acknowledged may be on its way after
	// the load ended, before it counts as missing.
	arrivalTime = 2 * time.Minute
	// rounds are taken in turn, by what is compared.
	rounds = 4
)

func (b *bench) sqlite(ctx context.Context) error {
	rate, err := b.durable(ctx, "SQLite", loadtest.Settings{}, 0.40, "at most 200, 16 kB")
	b.rate = rate
	return err
}

func (b *bench) postgres(ctx context.Context) error {
	url, err := b.database(ctx)
	if err != nil {
		return err
	}
	if url == "" {
		b.row("PostgreSQL", "not measured: TEST_POSTGRES_URL is not set", "")
		return nil
	}
	_, err = b.durable(ctx, "PostgreSQL", loadtest.Settings{DatabaseURL: url, NodeID: "bench"}, 0.3, "")
	return err
}

// durable measures events in to notifications out. The forwarder that it is
// held against runs in turn with it, so that a machine that becomes slower on
// its own slows both. It gives the rate.
func (b *bench) durable(ctx context.Context, name string, s loadtest.Settings, hold float64, allocations string) (float64, error) {
	bare, err := b.startForwarder(ctx)
	if err != nil {
		return 0, err
	}
	p, node, err := b.receiver(ctx, s, channels)
	if err != nil {
		return 0, err
	}
	if err := b.compare(ctx, fewConnections, bare, node); err != nil {
		return 0, err
	}
	few, acknowledged := node.rate()/bare.rate(), node.load.Acknowledged()
	before, err := allocatedBy(ctx, p)
	if err != nil {
		return 0, err
	}
	if err := b.compare(ctx, connections, bare, node); err != nil {
		return 0, err
	}
	after, err := allocatedBy(ctx, p)
	if err != nil {
		return 0, err
	}
	perEvent := after.since(before, node.load.Acknowledged()-acknowledged)
	b.row(name+": events in to notifications out", fmt.Sprintf("%.0f/s (forwarder %.0f/s)", node.rate(), bare.rate()), "")
	b.row(name+": share of the forwarder's rate",
		fmt.Sprintf("%.2f (%.2f with %d connections)", node.rate()/bare.rate(), few, fewConnections), fmt.Sprintf("at least %.2f", hold))
	b.row(name+": processor time an event", fmt.Sprintf("%.1f times the forwarder's (%s and %s)",
		float64(node.cpu())/float64(bare.cpu()), micros(node.cpu()), micros(bare.cpu())), "at most 3.2 times")
	b.row(name+": allocations an event", fmt.Sprintf("%.0f, %.1f kB", perEvent.times, perEvent.bytes/1000), allocations)
	if err := b.acknowledgements(ctx, name, node); err != nil {
		return 0, err
	}
	resident, err := loadtest.PeakResident(p.PID())
	b.row(name+": most resident memory", mib(resident), "under 100 MiB")
	return node.rate(), err
}

// subject is a program under load at full speed, and what it did so far.
type subject struct {
	load *loadtest.Load
	sink *loadtest.Sink
	pid  int

	events int
	took   time.Duration // until the last of them arrived
	used   time.Duration // of processor time
}

func (s *subject) rate() float64      { return float64(s.events) / s.took.Seconds() }
func (s *subject) cpu() time.Duration { return s.used / time.Duration(s.events) }

// compare runs subjects in turn, at full speed by so many connections, for b.took
// each.
func (b *bench) compare(ctx context.Context, connections int, subjects ...*subject) error {
	for _, s := range subjects {
		s.load.Connections, s.events, s.took, s.used = connections, 0, 0, 0
		if err := b.run(ctx, s, warmUp, 0); err != nil {
			return err
		}
	}
	for range rounds {
		for _, s := range subjects {
			if err := b.round(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// round ends when everything has arrived, so that what is taken quickly and
// delivered slowly counts as slow.
func (b *bench) round(ctx context.Context, s *subject) error {
	before := s.load.Acknowledged()
	used, err := loadtest.CPU(s.pid)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := b.run(ctx, s, b.took/rounds, 0); err != nil {
		return err
	}
	s.took += time.Since(began)
	total, err := loadtest.CPU(s.pid)
	if err != nil {
		return err
	}
	s.used += total - used
	s.events += s.load.Acknowledged() - before
	if s.events == 0 {
		return fmt.Errorf("nothing was acknowledged")
	}
	return nil
}

// run posts for a while and waits until everything acknowledged has arrived.
func (b *bench) run(ctx context.Context, s *subject, took time.Duration, rate float64) error {
	posting, cancel := context.WithTimeout(ctx, took)
	defer cancel()
	s.load.Run(posting, rate)
	arriving, cancel := context.WithTimeout(ctx, arrivalTime)
	defer cancel()
	v := loadtest.Await(arriving, s.load, s.sink)
	if v.Missing+v.Disordered+v.Repeated > 0 {
		return fmt.Errorf("%s", v)
	}
	return nil
}

// allocated is memory that a node took from its allocator.
type allocated struct{ times, bytes float64 }

// allocatedBy is what a node has allocated since it started.
func allocatedBy(ctx context.Context, p *loadtest.Process) (allocated, error) {
	figures, err := p.Metrics(ctx)
	if err != nil {
		return allocated{}, err
	}
	of := func(name string) float64 { return figures[name].GetMetric()[0].GetCounter().GetValue() }
	return allocated{of("go_memstats_mallocs_total"), of("go_memstats_alloc_bytes_total")}, nil
}

// since is what was allocated after before, for each of so many events.
func (a allocated) since(before allocated, events int) allocated {
	n := float64(events)
	return allocated{(a.times - before.times) / n, (a.bytes - before.bytes) / n}
}

// quietRates are loads, in events a second, that leave a node time to spare.
var quietRates = []float64{100, 500, 2000}

// acknowledgements measures how long senders wait, and messages take: at half of
// the rate that a node was measured with, and at quiet rates.
func (b *bench) acknowledgements(ctx context.Context, name string, node *subject) error {
	began := time.Now()
	if err := b.run(ctx, node, b.took, node.rate()/2); err != nil {
		return err
	}
	answers, ways := node.load.Answers(began), loadtest.Ways(node.load, node.sink, nil, began)
	sync, err := b.disk()
	if err != nil {
		return err
	}
	b.row(name+": p99 of the acknowledgement at half that rate",
		fmt.Sprintf("%s (a bare sync of the disk %s)", millis(loadtest.Quantile(answers, 0.99)), millis(sync)), "under 50 ms")
	b.row(name+": p99 of the arrival at half that rate", millis(loadtest.Quantile(ways, 0.99)), "")
	for _, rate := range quietRates {
		began := time.Now()
		if err := b.run(ctx, node, b.took, rate); err != nil {
			return err
		}
		answers := node.load.Answers(began)
		b.row(fmt.Sprintf("%s: acknowledgement at %.0f/s", name, rate),
			fmt.Sprintf("p50 %s, p99 %s", millis(loadtest.Quantile(answers, 0.5)), millis(loadtest.Quantile(answers, 0.99))), "")
	}
	return nil
}
