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
	kind   []trouble // of each channel; without a name: always healthy
	chosen []int     // the channels that fail

	failing bool
	asked   []int64 // how many requests the chosen had got before they failed
	before  int     // how many events a channel had before
	lost    []int   // of each channel: how many messages never arrive
	aside   []int   // of each channel: how many may have arrived after later ones

	with, without []time.Duration // what messages of healthy channels took
}

// choose has a twentieth of the channels be of each kind of trouble, spread over
// all: the load takes them in turn, and has both sorts at any time.
func (r *channelsRun) choose() {
	n := len(troubles(0, "")) * r.channels / 20
	for i := range n {
		r.chosen = append(r.chosen, i*r.channels/n)
	}
}

// round is a phase without failures, and one with them, after which all that
// waits is sent.
func (r *channelsRun) round(t *testing.T) {
	t.Helper()
	r.healthy(t)
	r.fail()
	began := time.Now()
	r.phase(t, r.each)
	r.checkHealthy(t, began)
	r.checkTotals(t)
	r.mend(t)
	r.checkTotals(t)
}

// healthy is a phase in which no channel fails.
func (r *channelsRun) healthy(t *testing.T) {
	t.Helper()
	began := time.Now()
	r.phase(t, r.each)
	r.without = append(r.without, loadtest.Ways(r.load, r.sink, r.chosen, began)...)
	slices.Sort(r.without)
}

// fail has the chosen channels fail from now on.
func (r *channelsRun) fail() {
	r.failing, r.before, r.asked = true, len(r.load.Posts(0)), nil
	healthy := r.channels - 1
	kinds := troubles(r.before+r.each/3, loadtest.ChannelRule(healthy, r.sink.URL()).WebhookURL)
	for i, channel := range r.chosen {
		r.kind[channel] = kinds[i%len(kinds)]
		r.asked = append(r.asked, r.sink.Asked(channel))
		r.sink.Set(channel, r.kind[channel].answer)
	}
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

// settled reports whether every channel has taken what it takes, and the failing
// ones were asked.
func (r *channelsRun) settled() bool {
	for i, channel := range r.chosen {
		if r.failing && r.sink.Asked(channel) == r.asked[i] {
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
	case !r.failing:
		return r.lost[channel]
	case k.holds == all:
		return r.lost[channel] + len(r.load.Posts(channel)) - r.before
	default:
		return r.lost[channel] + k.holds
	}
}

// check holds every channel to what is promised: it got all that it takes, once
// and in order.
func (r *channelsRun) check(t *testing.T) {
	t.Helper()
	for channel := range r.channels {
		v := loadtest.JudgeChannel(r.load, r.sink, channel)
		if v.Acknowledged != len(r.load.Posts(channel)) || v.Missing != r.held(channel) || v.Disordered > r.aside[channel] || v.Repeated > 0 {
			t.Errorf("channel %d (%s): %s; want %d missing, at most %d out of order", channel, r.kind[channel].name, v, r.held(channel), r.aside[channel])
		}
	}
}

// checkHealthy holds the channels that do not fail to what they did without
// failures.
func (r *channelsRun) checkHealthy(t *testing.T, began time.Time) {
	t.Helper()
	r.check(t)
	with := loadtest.Ways(r.load, r.sink, r.chosen, began)
	if want := (r.channels - len(r.chosen)) * r.each; len(with) != want {
		t.Fatalf("%d events of healthy channels arrived, want %d", len(with), want)
	}
	if most, usual := with[len(with)-1], r.without[len(r.without)-1]; most > usual+heldUp {
		t.Errorf("a message of a healthy channel took %s, and %s at most while none failed", most, usual)
	}
	r.with = append(r.with, with...)
}

// compare holds what messages took beside failing channels to what they took
// without.
func (r *channelsRun) compare(t *testing.T) {
	t.Helper()
	slices.Sort(r.with)
	p99, base := loadtest.Quantile(r.with, 0.99), loadtest.Quantile(r.without, 0.99)
	ratio := float64(p99) / float64(base)
	t.Logf("p99 of healthy channels: %s beside failing ones, %.2f times the %s without", p99, ratio, base)
	if r.ratio > 0 && ratio > r.ratio {
		t.Errorf("p99 is %.2f times the one without failures, want at most %.2f", ratio, r.ratio)
	}
}

// mend has every channel take what it gets, tries again what waits, and waits
// until that has arrived.
func (r *channelsRun) mend(t *testing.T) {
	t.Helper()
	for _, channel := range r.chosen {
		r.sink.Set(channel, loadtest.Answer{})
		r.lost[channel] += r.kind[channel].fails
		r.aside[channel] += r.kind[channel].aside
	}
	r.failing = false
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
