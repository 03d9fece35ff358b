package acceptance

import (
	"testing"
	"time"

	"outrigger/internal/loadtest"
)

// totals are what /metrics says of all deliveries.
type totals struct {
	matched, delivered, failed, cancelled, expired float64
	waiting, deciding                              float64
}

func (c totals) ended() float64 { return c.delivered + c.failed + c.cancelled + c.expired }

func readTotals(t *testing.T, p *loadtest.Process) totals {
	t.Helper()
	families, err := p.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := totals{}
	for name, into := range map[string]*float64{
		"outrigger_notify_waiting": &c.waiting, "outrigger_notify_deciding": &c.deciding,
	} {
		if len(families[name].GetMetric()) != 1 {
			t.Fatalf("/metrics has no %s", name)
		}
		*into = families[name].GetMetric()[0].GetGauge().GetValue()
	}
	c.matched = families["outrigger_notify_matched_total"].GetMetric()[0].GetCounter().GetValue()
	ended := map[string]*float64{"delivered": &c.delivered, "failed": &c.failed, "cancelled": &c.cancelled, "expired": &c.expired}
	for _, m := range families["outrigger_notify_deliveries_total"].GetMetric() {
		*ended[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	return c
}

// scrapeGap is longer than the gauges are kept for other scrapes, which is 1 s:
// a sample's were counted after the sample before it.
const scrapeGap = 1100 * time.Millisecond

// watchTotals reads the totals until the channel is closed, and at least once
// after it was.
func watchTotals(t *testing.T, p *loadtest.Process, closed <-chan struct{}) []totals {
	t.Helper()
	var samples []totals
	for ended := false; ; {
		samples = append(samples, readTotals(t, p))
		if ended {
			return samples
		}
		pass(t, scrapeGap)
		select {
		case <-closed:
			ended = true
		default:
		}
	}
}

// checkSamples holds what waited to what was matched and had ended. The gauges
// are of a moment between the sample before and the one after, and the counters
// only rise.
func checkSamples(t *testing.T, samples []totals) {
	t.Helper()
	for i := 1; i < len(samples)-1; i++ {
		before, now, after := samples[i-1], samples[i], samples[i+1]
		waiting := now.waiting + now.deciding
		if low, high := before.matched-after.ended(), after.matched-before.ended(); waiting < low || waiting > high {
			t.Errorf("%.0f wait under load, want %.0f to %.0f by the counters: %+v", waiting, low, high, now)
		}
	}
}

// checkTotals holds the totals to what was posted and what arrived. They come to
// rest once the last result is committed and the gauges are counted anew.
func (r *channelsRun) checkTotals(t *testing.T) {
	t.Helper()
	want := totals{matched: float64(r.load.Acknowledged())}
	for channel := range r.channels {
		want.delivered += float64(len(r.sink.Arrivals(channel)))
		want.failed += float64(r.lost[channel])
		if r.failing {
			want.failed += float64(r.kind[channel].fails)
		}
	}
	want.waiting = want.matched - want.ended()
	var got totals
	eventually(t, settleTime, func() bool {
		got = readTotals(t, r.p)
		return got == want
	})
	if got != want {
		t.Errorf("/metrics says %+v, want %+v", got, want)
	}
}
