package pages

import (
	"context"
	"fmt"

	"outrigger/internal/console"
)

const noMessages = "No messages in the last 24 hours."

// plot draws what became of messages in the last 24 hours.
func (p *Pages) plot(ctx context.Context) (console.Plot, error) {
	from := console.PlotFrom(p.Clock())
	samples, err := p.Deliveries.History(ctx, from, console.PlotStep)
	if err != nil {
		return console.Plot{}, err
	}
	delivered := console.Course{Label: "delivered", Tone: console.Good, Sum: true}
	waiting := console.Course{Label: "waiting", Tone: console.Warn}
	failed := console.Course{Label: "failed", Tone: console.Bad, Sum: true}
	var ended, lost, most int64
	for _, s := range samples {
		ended, lost, most = ended+s.Delivered, lost+s.Failed, max(most, s.Waiting)
		delivered.Points = append(delivered.Points, console.Point{At: s.At, N: s.Delivered})
		waiting.Points = append(waiting.Points, console.Point{At: s.At, N: s.Waiting})
		if s.Failed > 0 { // a line along the ground would look like something that failed
			failed.Points = append(failed.Points, console.Point{At: s.At, N: s.Failed})
		}
	}
	text := fmt.Sprintf("The last 24 hours: %d delivered, %d failed, at most %d waiting at once.", ended, lost, most)
	return console.NewPlot(from, text, noMessages, delivered, waiting, failed), nil
}
