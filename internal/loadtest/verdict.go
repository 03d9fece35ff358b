package loadtest

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Verdict holds what was acknowledged against what arrived.
type Verdict struct {
	Acknowledged int // events whose sender got a 2xx
	Missing      int // acknowledged, and never arrived
	Disordered   int // acknowledged, and first arrived after a later one of their channel
	Repeated     int // arrivals of an event that had arrived before
	MostRepeated int // the most of these on one channel
	Unpromised   int // arrived without having been acknowledged, which is no fault
	Examples     []string
}

func (v Verdict) String() string {
	s := fmt.Sprintf("%d acknowledged, %d missing, %d out of order, %d repeated (at most %d on a channel), %d arrived unacknowledged",
		v.Acknowledged, v.Missing, v.Disordered, v.Repeated, v.MostRepeated, v.Unpromised)
	for _, e := range v.Examples {
		s += "\n\t" + e
	}
	return s
}

// Judge looks up every event of the load in the sink.
func Judge(l *Load, s *Sink) Verdict {
	var v Verdict
	for channel := range l.Channels {
		v.judge(channel, l.Posts(channel), s.Arrivals(channel))
	}
	return v
}

// JudgeChannel is Judge for one channel.
func JudgeChannel(l *Load, s *Sink, channel int) Verdict {
	var v Verdict
	v.judge(channel, l.Posts(channel), s.Arrivals(channel))
	return v
}

func (v *Verdict) judge(channel int, posts []Post, arrivals []Arrival) {
	arrived := make([]bool, len(posts)+1)
	latest, repeated := 0, 0
	for _, a := range arrivals {
		if a.Seq < 1 || a.Seq > len(posts) {
			v.example("channel %d: event %d was never posted", channel, a.Seq)
			v.Disordered++
			continue
		}
		if arrived[a.Seq] {
			repeated++
			continue
		}
		arrived[a.Seq] = true
		if !posts[a.Seq-1].Acknowledged() {
			v.Unpromised++
			continue // its place in the order was never promised
		}
		if a.Seq < latest {
			v.Disordered++
			v.example("channel %d: event %d after %d", channel, a.Seq, latest)
		}
		latest = max(latest, a.Seq)
	}
	v.Repeated += repeated
	v.MostRepeated = max(v.MostRepeated, repeated)
	for i, p := range posts {
		if !p.Acknowledged() {
			continue
		}
		v.Acknowledged++
		if !arrived[i+1] {
			v.Missing++
			v.example("channel %d: event %d of %d, acknowledged with %d at %s, is missing",
				channel, i+1, len(posts), p.Status, p.Due.Add(p.Took).Format(time.TimeOnly))
		}
	}
}

func (v *Verdict) example(format string, args ...any) {
	if len(v.Examples) < 10 {
		v.Examples = append(v.Examples, fmt.Sprintf(format, args...))
	}
}

// Await waits until nothing that was acknowledged is missing, or ctx ends,
// and returns the verdict then.
func Await(ctx context.Context, l *Load, s *Sink) Verdict {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		v := Judge(l, s)
		if v.Missing == 0 {
			return v
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return v
		}
	}
}

// Answers are the times to the answers of the load's posts since a moment.
func (l *Load) Answers(since time.Time) []time.Duration {
	var took []time.Duration
	for _, posts := range l.posts {
		for _, p := range posts {
			if !p.Due.Before(since) && p.Acknowledged() {
				took = append(took, p.Took)
			}
		}
	}
	return took
}

// Ways are the times from when an event was due to be posted to its arrival,
// for those due since a moment. The channels in skip are left out.
func Ways(l *Load, s *Sink, skip []int, since time.Time) []time.Duration {
	var took []time.Duration
	for channel := range l.Channels {
		if slices.Contains(skip, channel) {
			continue
		}
		posts := l.Posts(channel)
		for _, a := range s.Arrivals(channel) {
			if a.Seq >= 1 && a.Seq <= len(posts) && !posts[a.Seq-1].Due.Before(since) {
				took = append(took, a.At.Sub(posts[a.Seq-1].Due))
			}
		}
	}
	return took
}

// Quantile sorts times, and returns that below which the share q of them lies; 0 for none.
func Quantile(took []time.Duration, q float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[min(len(took)-1, int(q*float64(len(took))))]
}
