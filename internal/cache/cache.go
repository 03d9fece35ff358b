// Package cache remembers values for a while.
package cache

import (
	"sync"
	"time"
)

// Cache remembers up to a number of values, each for the same time.
type Cache[K comparable, V any] struct {
	now  func() time.Time
	life time.Duration
	most int

	mu         sync.Mutex
	entries    map[K]entry[V]
	generation int // counts deletions, so that nothing older comes back
}

type entry[V any] struct {
	value V
	at    time.Time
}

// New makes a cache that keeps each value for life. When it has most values, it
// drops them all.
func New[K comparable, V any](now func() time.Time, life time.Duration, most int) *Cache[K, V] {
	return &Cache[K, V]{now: now, life: life, most: most, entries: map[K]entry[V]{}}
}

// Get returns what is remembered.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok || c.now().Sub(e.at) >= c.life {
		return value, false
	}
	return e.value, true
}

// Put remembers a value.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, entry[V]{value, c.now()})
}

func (c *Cache[K, V]) put(key K, e entry[V]) {
	if len(c.entries) >= c.most {
		clear(c.entries)
	}
	c.entries[key] = e
}

// Load returns what is remembered, or else what load returns, as of before load was
// called. An error is not remembered.
func (c *Cache[K, V]) Load(key K, load func() (V, error)) (V, error) {
	if value, ok := c.Get(key); ok {
		return value, nil
	}
	c.mu.Lock()
	at, generation := c.now(), c.generation
	c.mu.Unlock()
	value, err := load()
	if err != nil {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation == c.generation {
		c.put(key, entry[V]{value, at})
	}
	return value, nil
}

// Delete forgets a value. What is being loaded is not remembered.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
	c.generation++
}

// Clear forgets all values. What is being loaded is not remembered.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.generation++
}
