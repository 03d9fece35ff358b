package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// plotSpan is how far back a plot goes.
	plotSpan = 24 * time.Hour
	// PlotStep is what one of its pixels stands for.
	PlotStep = plotSpan / plotWidth

	plotWidth = 192 // pixels, one a step: wide enough to see a morning, narrow enough for a table; an hour is whole steps
	// plotHeight is stretched, and so is plotWidth; plotTop leaves room for the line.
	plotHeight, plotTop = 52, 1
	// plotLeast is the height of a plot at least, so that one message does not
	// look like a mountain.
	plotLeast = 10
)

// PlotFrom is where a plot that ends now begins: at a whole step, so that lines
// move on by steps.
func PlotFrom(now time.Time) time.Time { return now.Add(PlotStep - plotSpan).Truncate(PlotStep) }

// Point is a number at a time.
type Point struct {
	At time.Time
	N  int64
}

// Course is how a number changed: its points in the order of time, at most one
// a step.
type Course struct {
	Label  string // in the legend and the table; "" leaves it out
	Sum    bool   // the numbers of an hour add up; else its highest stands for it
	Tone   Tone   // Good, Busy, Warn or Bad
	Points []Point
}

// Plot is a picture of the last 24 hours, for the template "plot".
type Plot struct {
	Lines  []PlotLine
	Legend []PlotLegend
	Max    int64      // what the top of the picture stands for
	Marks  []PlotMark // of the time axis, which ends now
	Limits []PlotLimit
	Hours  []PlotHour // the same as a table, from the hours that have a number; the newest first
	Text   string     // says the same in words; "" where there is nothing to draw
	None   string     // what is said instead then
}

// PlotMark is a whole hour on the time axis.
type PlotMark struct {
	At time.Time
	X  int // in the picture
}

// Percent is how far to the right the mark is.
func (m PlotMark) Percent() string {
	return strconv.FormatFloat(100*float64(m.X)/plotWidth, 'f', 1, 64) + "%"
}

// PlotLine is the points of an SVG polyline.
type PlotLine struct {
	Tone   Tone
	Points string
}

// PlotLimit is a line from which on a number is too high.
type PlotLimit struct {
	Tone Tone
	Y    string
	N    int64
}

// PlotLegend says what the lines of a tone are.
type PlotLegend struct {
	Tone  Tone
	Label string
}

// NewPlot draws courses that begin at from, which PlotFrom made, or later. A line ends
// where points are missing. text says the same in words, and none that all numbers are 0:
// that is not drawn.
func NewPlot(from time.Time, text, none string, courses ...Course) Plot {
	p := Plot{Max: plotLeast, Marks: marks(from), None: "No data yet."}
	for _, c := range courses {
		for _, point := range c.Points {
			p.Max, p.None = max(p.Max, point.N), none
			if point.N > 0 {
				p.Text = text
			}
		}
	}
	if p.Text == "" {
		return Plot{None: p.None}
	}
	for _, c := range courses {
		for _, points := range p.lines(c.Points, from) {
			p.Lines = append(p.Lines, PlotLine{c.Tone, points})
		}
		if c.Label != "" {
			p.Legend = append(p.Legend, PlotLegend{c.Tone, c.Label})
		}
	}
	p.Hours = hoursOf(from, courses)
	return p
}

// markEvery is how far the marks of the time axis are from each other.
const markEvery = 6 * time.Hour

// marks are whole hours, the last of which is markEvery before the present hour.
func marks(from time.Time) (list []PlotMark) {
	last := from.Add(plotSpan - PlotStep).Truncate(time.Hour)
	for at := last.Add(-3 * markEvery); at.Before(last); at = at.Add(markEvery) {
		list = append(list, PlotMark{at, int(at.Sub(from) / PlotStep)})
	}
	return list
}

// PlotHour is what the courses with a label were in an hour of the clock.
type PlotHour struct {
	From    time.Time
	X       int     // where it begins in the picture
	Numbers []int64 // in the order of the legend
}

func hoursOf(from time.Time, courses []Course) (hours []PlotHour) {
	numbers := map[time.Time][]int64{} // by the hour
	n := 0
	for _, c := range courses {
		if c.Label == "" {
			continue
		}
		for _, point := range c.Points {
			hour := point.At.Truncate(time.Hour)
			for len(numbers[hour]) <= n {
				numbers[hour] = append(numbers[hour], 0)
			}
			if c.Sum {
				numbers[hour][n] += point.N
			} else {
				numbers[hour][n] = max(numbers[hour][n], point.N)
			}
		}
		n++
	}
	for at := from.Add(plotSpan).Truncate(time.Hour); !at.Before(from.Truncate(time.Hour)); at = at.Add(-time.Hour) {
		if list := numbers[at]; list != nil {
			hours = append(hours, PlotHour{at, max(int(at.Sub(from)/PlotStep), 0), append(list, make([]int64, n-len(list))...)})
		}
	}
	return hours
}

// Limit draws a line at a number, as far as the picture reaches.
func (p Plot) Limit(n int64, tone Tone) Plot {
	if p.Text != "" && n <= p.Max {
		p.Limits = append(slices.Clip(p.Limits), PlotLimit{tone, strconv.FormatFloat(p.y(n), 'f', -1, 64), n})
	}
	return p
}

// Width and Height are the picture's, for its viewBox.
func (Plot) Width() int { return plotWidth }

// Height is the picture's.
func (Plot) Height() int { return plotHeight }

// lines draws a line for each stretch without a gap.
func (p Plot) lines(points []Point, from time.Time) []string {
	var lines []string
	var line strings.Builder
	last := -2
	flush := func() {
		if line.Len() > 0 {
			lines = append(lines, line.String())
			line.Reset()
		}
	}
	for _, point := range points {
		x := int(point.At.Sub(from) / PlotStep)
		if x > last+1 {
			flush()
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		// A step is as wide as a pixel: a line of one point is seen too.
		y := strconv.FormatFloat(p.y(point.N), 'f', -1, 64)
		fmt.Fprintf(&line, "%d,%s %d,%s", x, y, x+1, y)
		last = x
	}
	flush()
	return lines
}

// Top is how far down the number is drawn that the top stands for.
func (p Plot) Top() float64 { return p.y(p.Max) }

// y is how far down a number is drawn, to half a pixel.
func (p Plot) y(n int64) float64 {
	const room = plotHeight - plotTop - 1
	return plotHeight - 1 - float64(int64(2*room*float64(n)/float64(p.Max)))/2
}
