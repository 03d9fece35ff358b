package pages

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

// recentMessages are what became of a channel's messages in the last 24 hours.
type recentMessages struct {
	Sentence string
	Plot     console.Plot
	Last     []deliveryRow
}

// lastAnswers is how many of a channel's messages its page shows.
const lastAnswers = 5

// maxRecent is how far the messages of a day are counted.
const maxRecent = 1000

// recentOn says and draws what became of a channel's messages in the last 24 hours, as
// far as who asks may see them, and shows the last ones.
func (p *Pages) recentOn(ctx context.Context, c *notify.ChannelInfo) (recent recentMessages, err error) {
	now := p.Clock()
	from := console.PlotFrom(now)
	found, err := p.Deliveries.List(ctx, notify.DeliveryFilter{ChannelID: c.ID, Since: from, Limit: maxRecent})
	if err != nil || len(found) == 0 {
		recent.Plot.None = noMessages
		return recent, err
	}
	byState := make(map[notify.DeliveryState]int)
	for i := range found {
		d := &found[i]
		byState[d.State]++
		if i < lastAnswers {
			recent.Last = append(recent.Last, p.rowOf(*d))
		}
	}
	counts := fmt.Sprintf("%d delivered, %d failed, %d waiting, %d cancelled.", byState[notify.Delivered],
		byState[notify.Failed], byState[notify.Waiting]+byState[notify.Deciding], byState[notify.Cancelled])
	recent.Sentence = counts // below a heading that says of when
	of := "The last 24 hours: "
	if len(found) == maxRecent {
		of = "The last " + console.Count(maxRecent) + " messages: "
		recent.Sentence = of + counts
	}
	recent.Plot = coursesOf(found, from, now, of+counts)
	return recent, nil
}

// coursesOf draws what became of deliveries, from the first of them on.
func coursesOf(found []notify.DeliveryInfo, from, now time.Time, text string) console.Plot {
	steps := int(now.Sub(from)/console.PlotStep) + 1
	step := func(at time.Time) int { return min(max(int(at.Sub(from)/console.PlotStep), 0), steps-1) }
	first := steps - 1
	done, lost, more := make([]int64, steps), make([]int64, steps), make([]int64, steps+1)
	for i := range found {
		d := &found[i]
		first = min(first, step(d.CreatedAt))
		more[step(d.CreatedAt)]++
		if d.FinishedAt.IsZero() {
			continue
		}
		at := step(d.FinishedAt)
		more[max(at, step(d.CreatedAt)+1)]-- // it waited in the step in which it came
		switch d.State {
		case notify.Delivered:
			done[at]++
		case notify.Failed:
			lost[at]++
		}
	}
	delivered := console.Course{Label: "delivered", Tone: console.Good, Sum: true}
	waiting := console.Course{Label: "waiting", Tone: console.Warn}
	failed := console.Course{Label: "failed", Tone: console.Bad, Sum: true}
	var waits int64
	for i := first; i < steps; i++ {
		at := from.Add(time.Duration(i) * console.PlotStep)
		waits += more[i]
		delivered.Points = append(delivered.Points, console.Point{At: at, N: done[i]})
		waiting.Points = append(waiting.Points, console.Point{At: at, N: waits})
		if lost[i] > 0 { // as in plot
			failed.Points = append(failed.Points, console.Point{At: at, N: lost[i]})
		}
	}
	return console.NewPlot(from, text, noMessages, delivered, waiting, failed)
}
