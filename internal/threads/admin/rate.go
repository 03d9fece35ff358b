package admin

import (
	"math"
	"sync"
	"time"

	"outrigger/internal/threads"
)

const (
	// rateSpan is how far back a rate looks: long enough to smooth chunks, which are
	// finished at once, short enough to follow a target that slows down.
	rateSpan = 30 * time.Second
	// rateLeast is how long processing is watched before anything is said of its rate.
	rateLeast = 2 * time.Second
)

// rateMeter knows how fast records are processed, from how far processing was when
// it was asked before, on this node.
type rateMeter struct {
	mu    sync.Mutex
	stage int64 // the data that seen is about
	undo  bool  // it is being undone
	seen  []sighting
}

type sighting struct {
	at   time.Time
	done int64
}

// see notes how far processing or undoing is and gives the records a second; 0 where that is
// not known yet.
func (r *rateMeter) see(now time.Time, m *threads.Migration) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Phase != threads.PhaseProcessing || m.Stage != r.stage || m.Undoing != r.undo {
		r.seen, r.stage, r.undo = nil, m.Stage, m.Undoing
	}
	if m.Phase != threads.PhaseProcessing {
		return 0
	}
	if n := len(r.seen); n == 0 || now.Sub(r.seen[n-1].at) >= time.Second {
		r.seen = append(r.seen, sighting{now, worked(m)})
	}
	for len(r.seen) > 1 && now.Sub(r.seen[1].at) >= rateSpan {
		r.seen = r.seen[1:]
	}
	first := r.seen[0]
	span := now.Sub(first.at)
	if span < rateLeast || worked(m) <= first.done {
		return 0
	}
	const tenth = 10
	return math.Round(tenth*float64(worked(m)-first.done)/span.Seconds()) / tenth
}

// worked is how many records are processed, or undone.
func worked(m *threads.Migration) int64 {
	if m.Undoing {
		return m.Records - m.RecordsDone
	}
	return m.RecordsDone
}

// secondsLeft is how long the rest takes at a rate, rounded up; 0 where it is not
// known.
func secondsLeft(m *threads.Migration, rate float64) int64 {
	if rate == 0 {
		return 0
	}
	return int64(math.Ceil(float64(m.Records-worked(m)) / rate))
}
