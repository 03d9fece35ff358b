package console

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var plotFrom = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

func pointAt(step int, n int64) Point {
	return Point{At: plotFrom.Add(time.Duration(step) * PlotStep), N: n}
}

func TestPlot(t *testing.T) {
	if p := NewPlot(plotFrom, "Nothing.", "All quiet.", Course{Label: "delivered", Tone: Good}); !cmp.Equal(p, Plot{None: "No data yet."}) {
		t.Errorf("without points: %+v", p)
	}
	if p := NewPlot(plotFrom, "Nothing.", "All quiet.", Course{Label: "delivered", Tone: Good, Points: []Point{pointAt(0, 0), pointAt(9, 0)}}); !cmp.Equal(p, Plot{None: "All quiet."}) {
		t.Errorf("without a number: %+v", p)
	}
	p := NewPlot(plotFrom, "At most 10.", "All quiet.",
		Course{Label: "delivered", Tone: Good, Points: []Point{pointAt(0, 0), pointAt(1, 10), pointAt(5, 5)}},
		Course{Tone: Bad, Points: []Point{pointAt(191, 3)}})
	want := Plot{
		Max: 10, Text: "At most 10.", None: "All quiet.", Marks: marks(plotFrom), Legend: []PlotLegend{{Good, "delivered"}},
		Lines: []PlotLine{{Good, "0,51 1,51 1,1 2,1"}, {Good, "5,26 6,26"}, {Bad, "191,36 192,36"}},
		Hours: []PlotHour{{plotFrom, 0, []int64{10}}},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	// What is nearly nothing does not fill the picture.
	if p := NewPlot(plotFrom, "1", "All quiet.", Course{Points: []Point{pointAt(0, 1)}}); p.Max != plotLeast {
		t.Errorf("%+v", p)
	}
	if p := NewPlot(plotFrom, "400", "All quiet.", Course{Points: []Point{pointAt(0, 3)}}, Course{Points: []Point{pointAt(191, 400)}}); p.Max != 400 || p.Lines[1].Points != "191,1 192,1" {
		t.Errorf("%+v", p)
	}
}

// The table has the hours in which there were numbers, the newest first: what happened
// adds up, what waited is the highest.
func TestPlotAsATable(t *testing.T) {
	p := NewPlot(plotFrom, "x", "All quiet.",
		Course{Label: "delivered", Tone: Good, Sum: true, Points: []Point{pointAt(0, 2), pointAt(1, 3), pointAt(183, 4)}},
		Course{Label: "waiting", Tone: Warn, Points: []Point{pointAt(0, 7), pointAt(1, 5)}},
		Course{Tone: Bad, Points: []Point{pointAt(60, 9)}})
	want := []PlotHour{{plotFrom.Add(22 * time.Hour), 176, []int64{4, 0}}, {plotFrom, 0, []int64{5, 7}}}
	if diff := cmp.Diff(want, p.Hours); diff != "" {
		t.Error(diff)
	}
}

// The axis has whole hours and ends now, and so the table's hours are those of the clock,
// whatever the time is.
func TestPlotGoesByWholeHours(t *testing.T) {
	for minute := range 24 * 60 {
		now := plotFrom.Add(time.Duration(minute) * time.Minute)
		from := PlotFrom(now)
		course := Course{Label: "waiting", Tone: Warn}
		for at := from; !at.After(now); at = at.Add(PlotStep) {
			course.Points = append(course.Points, Point{at, 1})
		}
		p := NewPlot(from, "Some.", "All quiet.", course)
		for i, m := range p.Marks {
			if !m.At.Equal(now.Truncate(time.Hour).Add(time.Duration(i-3)*6*time.Hour)) || !from.Add(time.Duration(m.X)*PlotStep).Equal(m.At) {
				t.Fatalf("%v: mark %d is %+v", now, i, m)
			}
		}
		if len(p.Marks) != 3 || p.Marks[2].Percent() < "70" || p.Marks[2].Percent() > "76" {
			t.Fatalf("%v: the marks are %+v", now, p.Marks)
		}
		for i, h := range p.Hours {
			if !h.From.Equal(now.Truncate(time.Hour).Add(-time.Duration(i)*time.Hour)) || i < len(p.Hours)-1 && !from.Add(time.Duration(h.X)*PlotStep).Equal(h.From) {
				t.Fatalf("%v: hour %d is %+v", now, i, h)
			}
		}
		if oldest := p.Hours[len(p.Hours)-1]; oldest.X != 0 || oldest.From.After(from) {
			t.Fatalf("%v: the oldest hour is %+v", now, oldest)
		}
	}
}

// A limit is drawn where the picture reaches it.
func TestPlotLimits(t *testing.T) {
	p := NewPlot(plotFrom, "At most 60.", "All quiet.", Course{Points: []Point{pointAt(0, 60)}}).Limit(50, Warn).Limit(100, Bad)
	if diff := cmp.Diff([]PlotLimit{{Warn, "9.5", 50}}, p.Limits); diff != "" {
		t.Error(diff)
	}
	if p := (Plot{}).Limit(5, Warn); p.Limits != nil {
		t.Errorf("without points: %+v", p)
	}
}

// The present is in the last step.
func TestPlotFrom(t *testing.T) {
	for minute := range 30 {
		now := plotFrom.Add(time.Duration(minute) * time.Minute)
		if step := now.Sub(PlotFrom(now)) / PlotStep; step != plotWidth-1 {
			t.Errorf("%v is in step %d", now, step)
		}
	}
}

// Whatever the points are, they are in the picture, and a line ends where
// points are missing.
func TestPlotStaysInThePicture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		taken := map[int]bool{}
		for _, s := range rapid.SliceOfNDistinct(rapid.IntRange(0, plotWidth-1), 1, 60, rapid.ID[int]).Draw(t, "steps") {
			taken[s] = true
		}
		var points []Point
		runs := 0
		for s := range plotWidth {
			if !taken[s] {
				continue
			}
			if !taken[s-1] {
				runs++
			}
			points = append(points, pointAt(s, rapid.Int64Range(1, 1<<52).Draw(t, "n")))
		}
		p := NewPlot(plotFrom, "Some.", "All quiet.", Course{Points: points})
		if len(p.Lines) != runs {
			t.Fatalf("%d lines for %d runs", len(p.Lines), runs)
		}
		for _, line := range p.Lines {
			for point := range strings.FieldsSeq(line.Points) {
				x, y, _ := strings.Cut(point, ",")
				left, err := strconv.Atoi(x)
				top, err2 := strconv.ParseFloat(y, 64)
				if err != nil || err2 != nil || left < 0 || left > plotWidth || top < plotTop || top > plotHeight-1 {
					t.Fatalf("the point %s is outside", point)
				}
			}
		}
	})
}
