package pages

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/mailqueuetest"
)

func TestPlot(t *testing.T) {
	from := mailqueuetest.QueuedAt
	at := func(step int, size, errors int64) mailqueue.Sample {
		return mailqueue.Sample{At: from.Add(time.Duration(step) * plotStep), Sizes: mailqueue.Sizes{Size: size, ErrorSize: errors}}
	}
	if p := NewPlot(nil, from); p.Text != "" || p.Size != nil {
		t.Errorf("without samples: %+v", p)
	}
	p := NewPlot([]mailqueue.Sample{at(0, 0, 0), at(1, 10, 0), at(5, 5, 0)}, from)
	want := Plot{Max: 10, Size: []string{"0,51 1,51 1,14 2,14", "5,32.5 6,32.5"}, Text: "The last 24 hours: at most 10 in the mail queue, at most 0 in the error queue."}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	// A queue that is nearly empty does not fill the picture.
	if p := NewPlot([]mailqueue.Sample{at(0, 1, 0)}, from); p.Max != plotLeast {
		t.Errorf("%+v", p)
	}
	if p := NewPlot([]mailqueue.Sample{at(179, 3, 400)}, from); p.Max != 400 || len(p.Errors) != 1 || p.Errors[0] != "179,14 180,14" {
		t.Errorf("%+v", p)
	}
}

// Whatever the samples are, every point is in the picture, and a line ends
// where samples are missing.
func TestPlotStaysInThePicture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfNDistinct(rapid.IntRange(0, plotWidth-1), 1, 60, rapid.ID[int]).Draw(t, "steps")
		taken := map[int]bool{}
		for _, s := range steps {
			taken[s] = true
		}
		var samples []mailqueue.Sample
		runs, errorRuns, failing := 0, 0, false
		for s := range plotWidth {
			if !taken[s] {
				continue
			}
			if !taken[s-1] {
				runs++
			}
			errors := rapid.Int64Range(0, 1<<52).Draw(t, "errors") * rapid.Int64Range(0, 1).Draw(t, "failing")
			if errors > 0 && !(failing && taken[s-1]) {
				errorRuns++
			}
			failing = errors > 0
			samples = append(samples, mailqueue.Sample{At: mailqueuetest.QueuedAt.Add(time.Duration(s) * plotStep), Sizes: mailqueue.Sizes{Size: rapid.Int64Range(0, 1<<52).Draw(t, "size"), ErrorSize: errors}})
		}
		p := NewPlot(samples, mailqueuetest.QueuedAt)
		if len(p.Size) != runs || len(p.Errors) != errorRuns {
			t.Fatalf("%d and %d lines for %d and %d runs", len(p.Size), len(p.Errors), runs, errorRuns)
		}
		for point := range strings.FieldsSeq(strings.Join(append(p.Size, p.Errors...), " ")) {
			x, y, _ := strings.Cut(point, ",")
			left, err := strconv.Atoi(x)
			top, err2 := strconv.ParseFloat(y, 64)
			if err != nil || err2 != nil || left < 0 || left > plotWidth || top < plotTop || top > plotHeight-1 {
				t.Fatalf("the point %s is outside", point)
			}
		}
	})
}
