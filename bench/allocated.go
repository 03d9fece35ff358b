package main

import (
	"context"

	"outrigger/internal/loadtest"
)

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
