package processing

import (
	"context"
	"maps"
	"sync"
	"time"

	"outrigger/internal/threads"
)

// memory is a target that does what it is told.
type memory struct {
	mu       sync.Mutex
	maps     map[int64]threads.ParentMap
	busy     map[int64]bool
	asked    int
	atOnce   int // at most
	now      int
	answer   func(n int, issue int64) error // of request n, counted from 1; nil lets it through
	overlaps int                            // requests about an issue that one was under way about
	probe    func(issue int64, what threads.Probe) error
	reading  func(issue int64) error // nil: answer
}

func newMemory(answer func(n int, issue int64) error) *memory {
	return &memory{maps: map[int64]threads.ParentMap{}, busy: map[int64]bool{}, answer: answer}
}

func (m *memory) begin(issue int64) error {
	m.mu.Lock()
	m.asked++
	m.now++
	m.atOnce = max(m.atOnce, m.now)
	if m.busy[issue] {
		m.overlaps++
	}
	m.busy[issue] = true
	n, answer := m.asked, m.answer
	m.mu.Unlock()
	if answer == nil {
		return nil
	}
	return answer(n, issue)
}

func (m *memory) end(issue int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now--
	delete(m.busy, issue)
}

func (m *memory) Read(_ context.Context, issue int64) (threads.ParentMap, error) {
	if m.reading != nil {
		return m.get(issue), m.reading(issue)
	}
	defer m.end(issue)
	if err := m.begin(issue); err != nil {
		return nil, err
	}
	return m.get(issue), nil
}

// counts is how many requests there were, how many at once, and how many of
// them about an issue that one was under way about.
func (m *memory) counts() (asked, atOnce, overlaps int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked, m.atOnce, m.overlaps
}

// answers has requests answered so from now on.
func (m *memory) answers(answer func(n int, issue int64) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answer = answer
}

// all returns the maps that are not empty.
func (m *memory) all() map[int64]threads.ParentMap {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := maps.Clone(m.maps)
	maps.DeleteFunc(list, func(_ int64, p threads.ParentMap) bool { return len(p) == 0 })
	return list
}

// underWay reports whether a request about an issue is.
func (m *memory) underWay(issue int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.busy[issue]
}

func (m *memory) get(issue int64) threads.ParentMap {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.maps[issue]
}

func (m *memory) Write(ctx context.Context, issue int64, change threads.Change) (threads.ParentMap, error) {
	defer m.end(issue)
	if err := m.begin(issue); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	after, err := change(m.get(issue))
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.maps[issue] = after
	return after, nil
}

// Probe refuses what probe says; it is no request that counts.
func (m *memory) Probe(ctx context.Context, issue int64, what threads.Probe) error {
	if m.probe == nil {
		return ctx.Err()
	}
	return m.probe(issue, what)
}

func limited(wait time.Duration) error {
	return &threads.TargetError{Kind: threads.TargetLimits, Message: "too often", Wait: wait, Declared: wait > 0}
}
