package relay

import "slices"

// wakeIdle has up to n workers look, and says how many. d.mu is held.
func (d *dispatch) wakeIdle(n int) (woken int) {
	for ; woken < n && len(d.idle) > 0; woken++ {
		last := len(d.idle) - 1
		d.idle[last].wake <- struct{}{}
		d.idle[last] = nil
		d.idle = d.idle[:last]
	}
	return woken
}

// wakeWorkers wakes workers for what is ready, for one message when it is to go alone,
// and counts those in that are to be started besides.
func (d *dispatch) wakeWorkers(alone bool) (start int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.ready)
	if alone {
		n = min(n, 1-min(d.inFlight, 1)) // a worker that is woken must be able to take a message
	}
	start = max(min(n-d.wakeIdle(n), d.limit-d.workers), 0)
	d.workers += start
	return start
}

// addIdle has a worker rest until there is something to send; false when
// sending is over.
func (d *dispatch) addIdle(w *worker) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.running {
		d.workers--
		return false
	}
	d.idle = append(d.idle, w)
	if len(d.ready) > 0 || d.more {
		d.wakeSender() // it came just now, or may not be sent yet
	}
	return true
}

// setLimit changes how many workers there may be; those above it go when they
// have nothing in hand.
func (d *dispatch) setLimit(limit int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit = limit
}

// overLimit has a worker go when there are too many.
func (d *dispatch) overLimit() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.workers <= d.limit {
		return false
	}
	d.workers--
	return true
}

// removeIdle lets a worker go that has rested for long; false when it was woken
// just now.
func (d *dispatch) removeIdle(w *worker) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.idle, w)
	if i < 0 {
		return false
	}
	d.idle = slices.Delete(d.idle, i, i+1)
	d.workers--
	return true
}
