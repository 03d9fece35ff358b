package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"outrigger/internal/loadtest"
)

const (
	// channels are as many as connections: each client has one, as the
	// architecture's figures were measured.
	channels    = 256
	connections = 256

	// warmUp fills caches and pools, and is not measured.
	warmUp = 2 * time.Second
	// arrivalTime is how long what was acknowledged may be on its way after
	// the load ended, before it counts as missing.
	arrivalTime = 2 * time.Minute
)

// passage is what a program does with events at full speed.
type passage struct {
	rate float64       // events a second that came out at the other end
	cpu  time.Duration // of the program, for each
}

func (b *bench) sqlite(ctx context.Context) error {
	rate, err := b.durable(ctx, "SQLite", loadtest.Settings{}, 0.45)
	b.rate = rate
	return err
}

func (b *bench) postgres(ctx context.Context) error {
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		b.row("PostgreSQL", "not measured: TEST_POSTGRES_URL is not set", "")
		return nil
	}
	url, drop, err := database(ctx, server)
	if err != nil {
		return err
	}
	_, err = b.durable(ctx, "PostgreSQL", loadtest.Settings{DatabaseURL: url, NodeID: "bench"}, 0.3)
	if e := drop(ctx); err == nil {
		err = e
	}
	return err
}

// durable measures events in to notifications out, right after the forwarder
// that it is held against. It gives the rate.
func (b *bench) durable(ctx context.Context, name string, s loadtest.Settings, hold float64) (float64, error) {
	bare, err := b.forwarder(ctx)
	if err != nil {
		return 0, err
	}
	sink, err := loadtest.NewSink(channels)
	if err != nil {
		return 0, err
	}
	defer sink.Close()
	p, end, err := b.node(ctx, s)
	if err != nil {
		return 0, err
	}
	defer end()
	if err := p.SaveChannelRules(ctx, channels, sink.URL()); err != nil {
		return 0, err
	}
	load := loadtest.NewLoad(channels, connections, p.Addr())
	full, err := b.pass(ctx, load, sink, p.PID())
	if err != nil {
		return 0, err
	}
	half := time.Now()
	if err := b.run(ctx, load, sink, b.took, full.rate/2); err != nil {
		return 0, err
	}
	answers, ways := load.Answers(half), loadtest.Ways(load, sink, 0, half)
	resident, err := loadtest.PeakResident(p.PID())
	if err != nil {
		return 0, err
	}
	b.row(name+": bare forwarder", fmt.Sprintf("%.0f/s", bare.rate), "")
	b.row(name+": events in to notifications out", fmt.Sprintf("%.0f/s", full.rate), "")
	b.row(name+": share of the forwarder's rate", fmt.Sprintf("%.2f", full.rate/bare.rate), fmt.Sprintf("at least %.2f", hold))
	b.row(name+": processor time an event", fmt.Sprintf("%s (forwarder %s)", micros(full.cpu), micros(bare.cpu)), "under 115 µs")
	b.row(name+": p99 of the acknowledgement at half that rate", millis(loadtest.Quantile(answers, 0.99)), "under 50 ms")
	b.row(name+": p99 of the arrival at half that rate", millis(loadtest.Quantile(ways, 0.99)), "")
	b.row(name+": most resident memory", mib(resident), "under 100 MiB")
	return full.rate, nil
}

func (b *bench) forwarder(ctx context.Context) (passage, error) {
	sink, err := loadtest.NewSink(channels)
	if err != nil {
		return passage{}, err
	}
	defer sink.Close()
	addr, cmd, err := startForwarder(ctx, sink.URL())
	if err != nil {
		return passage{}, err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	return b.pass(ctx, loadtest.NewLoad(channels, connections, addr), sink, cmd.Process.Pid)
}

// pass measures at full speed. Its end is when everything has arrived, so
// that what is taken quickly and delivered slowly counts as slow.
func (b *bench) pass(ctx context.Context, load *loadtest.Load, sink *loadtest.Sink, pid int) (passage, error) {
	if err := b.run(ctx, load, sink, warmUp, 0); err != nil {
		return passage{}, err
	}
	before := load.Acknowledged()
	used, err := loadtest.CPU(pid)
	if err != nil {
		return passage{}, err
	}
	began := time.Now()
	if err := b.run(ctx, load, sink, b.took, 0); err != nil {
		return passage{}, err
	}
	took := time.Since(began)
	total, err := loadtest.CPU(pid)
	if err != nil {
		return passage{}, err
	}
	n := load.Acknowledged() - before
	if n == 0 {
		return passage{}, fmt.Errorf("nothing was acknowledged")
	}
	return passage{rate: float64(n) / took.Seconds(), cpu: (total - used) / time.Duration(n)}, nil
}

// run posts for a while and waits until everything acknowledged has arrived.
func (b *bench) run(ctx context.Context, load *loadtest.Load, sink *loadtest.Sink, took time.Duration, rate float64) error {
	posting, cancel := context.WithTimeout(ctx, took)
	defer cancel()
	load.Run(posting, rate)
	arriving, cancel := context.WithTimeout(ctx, arrivalTime)
	defer cancel()
	v := loadtest.Await(arriving, load, sink)
	if v.Missing+v.Disordered+v.Repeated > 0 {
		return fmt.Errorf("%s", v)
	}
	return nil
}
