package pages

import (
	"context"
	"fmt"
	"slices"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/mailqueue"
)

const (
	nothingWaited = "Nothing waited in the last 24 hours."
	noSampleYet   = "No data yet."
)

// newPlot draws the samples of History that were asked for from a time on.
func newPlot(samples []mailqueue.Sample, from time.Time) console.Plot {
	var highest mailqueue.Sizes
	size, errors := console.Course{Label: "waiting", Tone: console.Busy}, console.Course{Label: "in the error queue", Tone: console.Bad}
	for _, s := range samples {
		highest.Size, highest.ErrorSize = max(highest.Size, s.Size), max(highest.ErrorSize, s.ErrorSize)
		size.Points = append(size.Points, console.Point{At: s.At, N: s.Size})
		if s.ErrorSize > 0 { // where there is no error, no line says so: it would look like one
			errors.Points = append(errors.Points, console.Point{At: s.At, N: s.ErrorSize})
		}
	}
	text := fmt.Sprintf("The last 24 hours: at most %d in the mail queue, at most %d in the error queue.", highest.Size, highest.ErrorSize)
	return console.NewPlot(from, text, nothingWaited, size, errors).
		Limit(mailqueue.AttentionFrom, console.Warn).Limit(mailqueue.ActFrom, console.Bad)
}

// nodesPlot draws what waited on each node in the last 24 hours.
func (p *Pages) nodesPlot(ctx context.Context, nodes []mailqueue.NodeStatus) (console.Plot, error) {
	if len(nodes) == 0 {
		return console.Plot{}, nil
	}
	from := console.PlotFrom(nodes[0].Now)
	samples, err := p.Service.Store.History(ctx, from, console.PlotStep)
	if err != nil {
		return console.Plot{}, err
	}
	var most, mostFailed int64
	courses := make([]console.Course, len(nodes), 2*len(nodes))
	failed := console.Course{Label: "in the error queues", Tone: console.Bad}
	if len(nodes) == 1 {
		failed.Label = "in the error queue"
	}
	for i := range nodes {
		courses[i].Tone = console.Warn
		for _, s := range samples[nodes[i].ID] {
			most = max(most, s.Size)
			courses[i].Points = append(courses[i].Points, console.Point{At: s.At, N: s.Size})
		}
	}
	for at, n := range errorsOf(samples) {
		mostFailed = max(mostFailed, n)
		failed.Points = append(failed.Points, console.Point{At: at, N: n})
	}
	slices.SortFunc(failed.Points, func(a, b console.Point) int { return a.At.Compare(b.At) })
	if mostFailed > 0 { // where there is no error, no line says so: it would look like one
		courses = append(courses, failed)
	}
	courses[0].Label = "waiting"
	if len(nodes) > 1 {
		courses[0].Label = "waiting, a line for each node"
	}
	return console.NewPlot(from, fmt.Sprintf("The last 24 hours: at most %d waiting in the mail queue of a node, at most %d in the "+
		"error queues.", most, mostFailed), nothingWaited, courses...), nil
}

// errorsOf adds up the error queues of all nodes by time.
func errorsOf(samples map[string][]mailqueue.Sample) map[time.Time]int64 {
	sum := map[time.Time]int64{}
	for _, list := range samples {
		for _, s := range list {
			sum[s.At] += s.ErrorSize
		}
	}
	return sum
}
