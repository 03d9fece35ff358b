package pages

import (
	"fmt"
	"outrigger/internal/mailqueue"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	plotSpan  = 24 * time.Hour
	plotWidth = 180 // pixels, one a step: wide enough to see a morning, narrow enough for a table
	plotStep  = plotSpan / plotWidth
	// plotHeight leaves a line of text above the course.
	plotHeight, plotTop = 52, 14
	// plotLeast is the height of a plot in messages at least, so that one
	// message does not look like a mountain.
	plotLeast = 10
)

// Plot is the course of a queue's sizes as lines in a picture of plotWidth by
// plotHeight. A line ends where samples are missing.
type Plot struct {
	Size   []string // each the points of an SVG polyline
	Errors []string
	Max    int64 // what the top of the course stands for
	// Text says the same in words; "" without a sample.
	Text string
}

// NewPlot draws the samples of History that were asked for from a time on.
func NewPlot(samples []mailqueue.Sample, from time.Time) Plot {
	if len(samples) == 0 {
		return Plot{}
	}
	p := Plot{Max: plotLeast}
	var highest mailqueue.Sizes
	for _, s := range samples {
		highest.Size, highest.ErrorSize = max(highest.Size, s.Size), max(highest.ErrorSize, s.ErrorSize)
	}
	p.Max = max(p.Max, highest.Size, highest.ErrorSize)
	p.Text = fmt.Sprintf("The last 24 hours: at most %d in the mail queue, at most %d in the error queue.", highest.Size, highest.ErrorSize)
	p.Size = p.lines(samples, from, func(s mailqueue.Sample) int64 { return s.Size })
	// Where there is no error, no line says so: it would look like one.
	samples = slices.DeleteFunc(slices.Clone(samples), func(s mailqueue.Sample) bool { return s.ErrorSize == 0 })
	p.Errors = p.lines(samples, from, func(s mailqueue.Sample) int64 { return s.ErrorSize })
	return p
}

// Width and Height are the picture's, for its viewBox.
func (Plot) Width() int { return plotWidth }

// Height is the picture's.
func (Plot) Height() int { return plotHeight }

// lines draws one of the sizes, a line for each stretch without a gap.
func (p Plot) lines(samples []mailqueue.Sample, from time.Time, size func(mailqueue.Sample) int64) []string {
	var lines []string
	var line strings.Builder
	last := -2
	flush := func() {
		if line.Len() > 0 {
			lines = append(lines, line.String())
			line.Reset()
		}
	}
	for _, s := range samples {
		x := int(s.At.Sub(from) / plotStep)
		if x > last+1 {
			flush()
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		// A step is as wide as a pixel: a line of one sample is seen too.
		y := strconv.FormatFloat(p.y(size(s)), 'f', -1, 64)
		fmt.Fprintf(&line, "%d,%s %d,%s", x, y, x+1, y)
		last = x
	}
	flush()
	return lines
}

// y is how far down a number is drawn, to half a pixel.
func (p Plot) y(n int64) float64 {
	const room = plotHeight - plotTop - 1
	return plotHeight - 1 - float64(int64(2*room*float64(n)/float64(p.Max)))/2
}
