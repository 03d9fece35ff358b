package pages

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/console"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/mailqueuetest"
)

// Errors are drawn only where there are some.
func TestPlot(t *testing.T) {
	from := mailqueuetest.QueuedAt
	at := func(step int, size, errors int64) mailqueue.Sample {
		return mailqueue.Sample{At: from.Add(time.Duration(step) * console.PlotStep), Sizes: mailqueue.Sizes{Size: size, ErrorSize: errors}}
	}
	if p := newPlot(nil, from); p.Text != "" {
		t.Errorf("without samples: %+v", p)
	}
	p := newPlot([]mailqueue.Sample{at(0, 0, 0), at(1, 10, 0), at(2, 5, 5)}, from)
	want := console.Plot{
		Marks: p.Marks,
		Max:   10, Text: "The last 24 hours: at most 10 in the mail queue, at most 5 in the error queue.", None: nothingWaited,
		Lines:  []console.PlotLine{{Tone: console.Busy, Points: "0,51 1,51 1,1 2,1 2,26 3,26"}, {Tone: console.Bad, Points: "2,26 3,26"}},
		Legend: []console.PlotLegend{{Tone: console.Busy, Label: "waiting"}, {Tone: console.Bad, Label: "in the error queue"}},
		Hours:  []console.PlotHour{{From: from.Truncate(time.Hour), Numbers: []int64{10, 5}}},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

// The thresholds of the verdict are drawn where the queue came near them.
func TestPlotHasTheThresholds(t *testing.T) {
	from := time.Date(2026, 2, 5, 16, 20, 11, 0, time.UTC)
	for size, limits := range map[int64]int{49: 0, 50: 1, 99: 1, 100: 2} {
		p := newPlot([]mailqueue.Sample{{At: from, Sizes: mailqueue.Sizes{Size: size}}}, from)
		if len(p.Limits) != limits {
			t.Errorf("%d waiting: the limits are %+v", size, p.Limits)
		}
	}
}
