package identity

import (
	"sync"
	"time"
)

const (
	// freshness is how old an answer of the database may be: what another node
	// changed must hold within a second, the request's own time included.
	freshness = time.Second / 2
	// maxRecent bounds a cache. More callers than this within half a second pay
	// for their queries.
	maxRecent = 4096
)

// recent remembers for half a second what was found in the database, so that
// monitors and webhooks do not ask it for every request.
type recent[K comparable, V any] struct {
	now func() time.Time

	mu         sync.Mutex
	entries    map[K]found[V]
	generation int // counts what was forgotten, so that nothing older comes back
}

type found[V any] struct {
	value V
	at    time.Time
}

func newRecent[K comparable, V any](now func() time.Time) *recent[K, V] {
	return &recent[K, V]{now: now, entries: map[K]found[V]{}}
}

// get returns what is remembered, or else what load finds. An error is not
// remembered.
func (c *recent[K, V]) get(key K, load func() (V, error)) (V, error) {
	c.mu.Lock()
	now, era := c.now(), c.generation
	f, ok := c.entries[key]
	c.mu.Unlock()
	if ok && now.Sub(f.at) < freshness {
		return f.value, nil
	}
	value, err := load()
	if err != nil {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if era == c.generation {
		if len(c.entries) >= maxRecent {
			clear(c.entries)
		}
		c.entries[key] = found[V]{value, now} // as of before it was asked for
	}
	return value, nil
}

// forget drops everything, also what is being loaded now.
func (c *recent[K, V]) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.generation++
}
