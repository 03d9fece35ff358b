package limit

import (
	"sync"
	"testing"
)

// TestConcurrentForgetsWhoLeft: what is kept of a key ends with its last slot, so that
// no number of keys fills the memory.
func TestConcurrentForgetsWhoLeft(t *testing.T) {
	var limit Concurrent[int]
	var all sync.WaitGroup
	for key := range 100 {
		for range 2 {
			all.Go(func() {
				for range 100 {
					if release, ok := limit.Acquire(key, 1); ok {
						if _, twice := limit.Acquire(key, 1); twice {
							t.Errorf("key %d has two slots of one", key)
						}
						release()
					}
				}
			})
		}
	}
	all.Wait()
	if !limit.Idle() || len(limit.each) != 0 {
		t.Errorf("%d keys are kept that have no slot", len(limit.each))
	}
	if _, ok := limit.Acquire(1, 1); !ok || limit.Idle() {
		t.Error("a slot that was released is not there again")
	}
}
