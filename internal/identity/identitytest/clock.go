package identitytest

import (
	"sync"
	"time"
)

// Clock is the present time until a test moves it on or back. The zero value is
// ready for use, by several goroutines.
type Clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

// Now is the time by the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

// Move moves the clock on, or back where d is negative.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}
