package acceptance

import (
	"context"
	"slices"
	"testing"
	"time"

	"outrigger/internal/loadtest"
)

// channelsRun is a node with its channels, healthy and failing.
type channelsRun struct {
	channelsForm
	p      *loadtest.Process
	sink   *loadtest.Sink
	load   *loadtest.Load
	kind   []trouble // of each channel; without a name: healthy
	failed []int     // the failing channels
	asked  []int64   // how many requests these had got before
	before int       // how many events a channel had before it failed
	mended bool
}

// fail has a twentieth of the channels fail in each way from now on, the lowest
// ones, and gives how many these are. nth is the event, of those to come, that
// is refused alone; before is how many came before.
func (r *channelsRun) fail(nth, before int) int {
	r.before = before
	last := r.load.Channels - 1 // a healthy one
	kinds := troubles(before+nth, loadtest.ChannelRule(last, r.sink.URL()).WebhookURL)
	for i := range len(kinds) * r.channels / 20 {
		r.kind[i] = kinds[i%len(kinds)]
		r.failed = append(r.failed, i)
		r.asked = append(r.asked, r.sink.Asked(i))
		r.sink.Set(i, r.kind[i].answer)
	}
	return len(r.failed)
}

// phase posts so many events for each channel, and waits until all has arrived
// that can. What is counted meanwhile adds up.
func (r *channelsRun) phase(t *testing.T, each int) {
	t.Helper()
	r.load.Each = each
	limit := r.limit(each)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		r.load.Run(ctx, channelsRate)
	}()
	samples := watchTotals(t, r.p, posted)
	checkSamples(t, samples)
	if ctx.Err() != nil {
		t.Fatalf("the events were not posted in %s", limit)
	}
	until(t, limit, "not all has arrived that should", r.settled)
}

// limit is what so many events for each channel may take on a busy machine.
func (r *channelsRun) limit(each int) time.Duration {
	return settleTime + 2*time.Duration(each*r.channels/channelsRate)*time.Second
}

// settled tells whether every channel has taken what it takes, and the failing
// ones were asked.
func (r *channelsRun) settled() bool {
	for i, channel := range r.failed {
		if r.sink.Asked(channel) == r.asked[i] {
			return false
		}
	}
	for channel := range r.channels {
		if len(r.sink.Arrivals(channel)) < len(r.load.Posts(channel))-r.held(channel) {
			return false
		}
	}
	return true
}

// held is how many messages of a channel have not arrived once all is settled.
func (r *channelsRun) held(channel int) int {
	switch k := r.kind[channel]; {
	case r.mended:
		return k.fails
	case k.holds == all:
		return len(r.load.Posts(channel)) - r.before
	default:
		return k.holds
	}
}

// check holds every channel to what is promised: it got all that it takes, once
// and in order.
func (r *channelsRun) check(t *testing.T) {
	t.Helper()
	for channel := range r.channels {
		k := r.kind[channel]
		aside := 0
		if r.mended {
			aside = k.aside
		}
		v := loadtest.JudgeChannel(r.load, r.sink, channel)
		if v.Acknowledged != len(r.load.Posts(channel)) || v.Missing != r.held(channel) || v.Disordered > aside || v.Repeated > 0 {
			t.Errorf("channel %d (%s): %s; want %d missing, at most %d out of order", channel, k.name, v, r.held(channel), aside)
		}
	}
}

// checkHealthy holds the channels that do not fail to what they did before the
// others failed, and gives how long each of their messages took.
func (r *channelsRun) checkHealthy(t *testing.T, failing int, before []time.Duration, began time.Time) []time.Duration {
	t.Helper()
	r.check(t)
	with := loadtest.Ways(r.load, r.sink, failing, began)
	if want := (r.channels - failing) * r.each; len(with) != want {
		t.Fatalf("%d events of healthy channels arrived, want %d", len(with), want)
	}
	if most, usual := with[len(with)-1], before[len(before)-1]; most > usual+heldUp {
		t.Errorf("a message of a healthy channel took %s, and %s at most before others failed", most, usual)
	}
	return with
}

// compare holds what messages took beside failing channels to what they took
// without: before and after, since the database has grown meanwhile.
func (r *channelsRun) compare(t *testing.T, with, before, after []time.Duration) {
	t.Helper()
	without := slices.Sorted(slices.Values(slices.Concat(before, after)))
	p99, base := loadtest.Quantile(with, 0.99), loadtest.Quantile(without, 0.99)
	ratio := float64(p99) / float64(base)
	t.Logf("p99 of healthy channels: %s beside failing ones, %.2f times the %s without (%s before, %s after)",
		p99, ratio, base, loadtest.Quantile(before, 0.99), loadtest.Quantile(after, 0.99))
	if ratio > r.ratio {
		t.Errorf("p99 is %.2f times the one without failures, want at most %.2f", ratio, r.ratio)
	}
}

// mend has every channel take what it gets, tries again what waits, and waits
// until that has arrived.
func (r *channelsRun) mend(t *testing.T) {
	t.Helper()
	for _, channel := range r.failed {
		r.sink.Set(channel, loadtest.Answer{})
	}
	r.mended = true
	// A request that failed as it was mended closes its channel's gate after the
	// first try. Each try has all that waits read again, so they are seconds apart.
	var tried time.Time
	until(t, r.limit(r.each), "not all has arrived after the channels were mended", func() bool {
		if time.Since(tried) > 5*time.Second {
			if err := r.p.RetryWaiting(t.Context()); err != nil {
				t.Fatal(err)
			}
			tried = time.Now()
		}
		return r.settled()
	})
	r.check(t)
}
