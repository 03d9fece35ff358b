package pages

import (
	"fmt"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/mailqueue"
)

// newPlot draws the samples of History that were asked for from a time on.
func newPlot(samples []mailqueue.Sample, from time.Time) console.Plot {
	var highest mailqueue.Sizes
	size, errors := console.Course{Tone: console.Busy}, console.Course{Tone: console.Bad}
	for _, s := range samples {
		highest.Size, highest.ErrorSize = max(highest.Size, s.Size), max(highest.ErrorSize, s.ErrorSize)
		size.Points = append(size.Points, console.Point{At: s.At, N: s.Size})
		if s.ErrorSize > 0 { // where there is no error, no line says so: it would look like one
			errors.Points = append(errors.Points, console.Point{At: s.At, N: s.ErrorSize})
		}
	}
	text := fmt.Sprintf("The last 24 hours: at most %d in the mail queue, at most %d in the error queue.", highest.Size, highest.ErrorSize)
	return console.NewPlot(from, text, size, errors)
}
