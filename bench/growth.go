package main

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/loadtest"
)

func (b *bench) growthEvents(ctx context.Context) {
	b.grown(ctx, "5 million events, 10 million deliveries", func(f *filled) { f.keep(ctx, 5_000_000) })
}

func (b *bench) growthRules(ctx context.Context) {
	b.grown(ctx, "100,000 rules on 10,000 channels", func(f *filled) { f.addRules(ctx, 100_000, 10_000) })
}

func (b *bench) growthWaiting(ctx context.Context) {
	b.grown(ctx, "1 million waiting", func(f *filled) { f.wait(ctx, 1_000_000) })
}

// grown holds a node whose database has much in it, of which -grown gives the
// share, against one whose database is empty.
func (b *bench) grown(ctx context.Context, name string, grow func(*filled)) {
	empty, before := b.receiver(ctx, loadtest.Settings{}, channels)
	full, after := b.receiver(ctx, loadtest.Settings{}, channels)
	grow(&filled{Process: full, subject: after, scale: b.grownBy})
	took := must(full.Start(ctx))
	b.compare(ctx, connections, before, after)
	slowest, path := slowestPage(ctx, empty, full)
	if b.grownBy != 1 {
		name += fmt.Sprintf(" × %g", b.grownBy)
	}
	b.row("grown by "+name+": share of the rate when empty", fmt.Sprintf("%.2f", after.rate()/before.rate()), "at least 0.90")
	b.row("grown by "+name+": slowest list or page", fmt.Sprintf("%.1f times as when empty (%s)", slowest, path), "at most 2 times")
	b.row("grown by "+name+": start until ready", millis(took), "under 2 s")
}

// looked are the lists and pages that people open most.
var looked = []string{
	"/rest/mtbs/1.0/configuration/deliveries", "/rest/mtbs/1.0/configuration/deliveries?state=failed",
	"/rest/mtbs/1.0/configuration/events", "/rest/mtbs/1.0/configuration/channels",
	"/", "/notifications/rules", "/notifications/deliveries", "/notifications/events", "/notifications/channels",
}

// looks is how often each is asked for; the median counts.
const looks = 21

// slowestPage finds what takes longest with much in the database, by how many
// times as long as without.
func slowestPage(ctx context.Context, empty, full *loadtest.Process) (times float64, path string) {
	before, after := must(empty.SignIn(ctx)), must(full.SignIn(ctx))
	look := func(b *loadtest.Browser, path string) time.Duration {
		took := make([]time.Duration, looks)
		for i := range took {
			began := time.Now()
			must(b.Send(ctx, path, nil))
			took[i] = time.Since(began)
		}
		return median(took)
	}
	for _, p := range looked {
		was, is := look(before, p), look(after, p)
		if t := float64(is) / float64(was); t > times {
			times, path = t, fmt.Sprintf("%s: %s and %s", p, millis(is), millis(was))
		}
	}
	return times, path
}
