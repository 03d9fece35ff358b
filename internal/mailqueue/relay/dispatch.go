package relay

import (
	"slices"
	"sync"
)

const (
	// maxReady and maxReadyBytes bound what of the queue is in memory: a burst
	// of a few thousand notifications. What arrives beyond waits in the
	// database, which costs reading it back.
	maxReady      = 4096
	maxReadyBytes = 16 << 20

	// lowReady is when more is read, before the sessions run dry.
	lowReady = 32
)

// dispatch is the part of this node's queue that is in memory, between intake and
// the workers. Messages in it are left out when due messages are read from the
// database, so that none is sent twice: a message is held from before its commit
// until the commit of its outcome.
type dispatch struct {
	mu         sync.Mutex
	running    bool // this node sends: it has the lease
	held       map[int64]*job
	ready      []*job
	bytes      int   // of the bodies in ready
	paused     bool  // by an administrator
	change     int64 // of the queue's, that paused is from
	more       bool  // the database may have some that are due and not held
	inFlight   int
	idle       []*worker // the last to become idle is woken first, so that the others can end
	workers    int
	limit      int // of workers
	recipients int // of one transaction, at most
	doubts     int
	awaited    func(*job) bool // what is sent before all else when it comes; nil: nothing
	stale      map[int64]bool  // messages that changed while due messages are being read
	look       bool            // an administrator did something
	wake       chan struct{}   // one slot: the sender is to have a look
}

func newDispatch() dispatch {
	return dispatch{held: make(map[int64]*job), wake: make(chan struct{}, 1)}
}

// wakeSender wakes the sender.
func (d *dispatch) wakeSender() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// queueChanged has the sender ask the database what changed.
func (d *dispatch) queueChanged() {
	d.mu.Lock()
	d.look, d.more = true, true
	d.mu.Unlock()
	d.wakeSender()
}

// shouldLook reports whether queueChanged was called since the last time.
func (d *dispatch) shouldLook() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	look := d.look
	d.look = false
	return look
}

// pause stops or goes on with sending, as a change of the queue says.
func (d *dispatch) pause(paused bool, change int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if change >= d.change {
		d.paused, d.change = paused, change
	}
}

func (d *dispatch) isPaused() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.paused
}

// await says what is to be sent before all else when it comes, nil for nothing.
func (d *dispatch) await(what func(*job) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.awaited = what
}

// reread has the database asked again for what is due.
func (d *dispatch) reread() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.more = true
}

// rereadAll has what is ready read again too: another node may have deleted some of
// it.
func (d *dispatch) rereadAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropReady()
}

// needsRefill reports whether more should be read from the database.
func (d *dispatch) needsRefill() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.more && len(d.ready) < lowReady
}

// arriving notes a message just before its commit.
func (d *dispatch) arriving(j *job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	j.state = arriving
	d.held[j.id] = j
}

// arrived makes messages ready that have just been committed, as far as there
// is room and none waits before them.
func (d *dispatch) arrived(items []*arrival) {
	d.mu.Lock()
	defer d.mu.Unlock()
	pushed := 0
	for _, a := range items {
		j := &a.job
		if d.held[j.id] != j {
			continue
		}
		awaited := d.awaited != nil && d.awaited(j)
		if !d.running || d.more && !awaited || len(d.ready) >= maxReady || d.bytes+j.memory() > maxReadyBytes {
			d.drop(j)
			d.more = true
			continue
		}
		d.push(j)
		pushed++
	}
	if d.awaited != nil || d.wakeIdle(pushed) < pushed && d.workers < d.limit || d.more && len(d.ready) < lowReady {
		d.wakeSender()
	}
}

// withdrawn notes that a message is not to come.
func (d *dispatch) withdrawn(j *job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(j)
}

// doubt keeps a message from being sent until it has been withdrawn.
func (d *dispatch) doubt(j *job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	j.state = doubted
	d.doubts++
	d.held[j.id] = j
	d.wakeSender()
}

// doubtful are the messages to withdraw.
func (d *dispatch) doubtful() (list []*job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.doubts == 0 {
		return nil
	}
	for _, j := range d.held {
		if j.state == doubted {
			list = append(list, j)
		}
	}
	return list
}

// push makes a job ready. d.mu is held, as in everything below that says so.
func (d *dispatch) push(j *job) {
	j.state = ready
	d.held[j.id] = j
	d.ready = append(d.ready, j)
	d.bytes += j.memory()
}

// drop lets go of a job that is not ready. d.mu is held.
func (d *dispatch) drop(j *job) {
	if d.held[j.id] == j {
		delete(d.held, j.id)
	}
	if j.state == doubted {
		d.doubts--
	}
	j.state = away
}

// take takes the first job that fits allows, to be sent; alone: only while no
// other is being sent.
func (d *dispatch) take(alone bool, fits func(*job) bool) *job {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.ready, fits)
	if d.paused || i < 0 || alone && d.inFlight > 0 {
		return nil
	}
	j := d.ready[i]
	if i == 0 { // as nearly always; the others need not move
		d.ready[0] = nil
		d.ready = d.ready[1:]
	} else {
		d.ready = slices.Delete(d.ready, i, i+1)
	}
	d.bytes -= j.memory()
	d.inFlight++
	j.state = inFlight
	if len(j.turn) > d.recipients {
		j.turn, j.again = j.turn[:d.recipients], true
	}
	if d.more && len(d.ready) < lowReady {
		d.wakeSender()
	}
	return j
}

// finished removes a job that was being sent. Its outcome is committed, or it is
// to be read again.
func (d *dispatch) finished(j *job, unsent bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(j)
	d.markStale(j.id)
	d.inFlight--
	d.more = d.more || unsent || j.again
}

// markStale notes that what is being read of a message is no longer true. d.mu is
// held.
func (d *dispatch) markStale(id int64) {
	if d.stale != nil {
		d.stale[id] = true
	}
}

// forget takes a message that is ready out of memory: it was deleted, or is to
// be read again. One that is being sent is no longer affected.
func (d *dispatch) forget(id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.markStale(id)
	j := d.held[id]
	if j == nil || j.state != ready {
		return
	}
	d.unready(j)
}

// unready takes a job off those that are ready. d.mu is held.
func (d *dispatch) unready(j *job) {
	d.ready = slices.DeleteFunc(d.ready, func(other *job) bool { return other == j })
	d.bytes -= j.memory()
	d.drop(j)
}

// begin starts from nothing but what is arriving or doubted.
func (d *dispatch) begin(workers, recipients int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit, d.recipients, d.paused, d.change = workers, recipients, false, 0
	d.running, d.more, d.look, d.awaited = true, true, true, nil
}

// end removes what was ready and ends idle workers.
func (d *dispatch) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = false
	d.wakeIdle(len(d.idle))
	d.dropReady()
}

// dropReady removes everything that is ready, to be read again. d.mu is held.
func (d *dispatch) dropReady() {
	for _, j := range d.ready {
		d.drop(j)
	}
	d.ready, d.bytes, d.more = nil, 0, true
}

// memory is about what a job takes of it.
func (j *job) memory() int { return len(j.body) + len(j.plain) }

// covers reports whether every recipient that is due has its turn already.
func (j *job) covers(due *job) bool {
	return !slices.ContainsFunc(due.turn, func(n int) bool { return !slices.Contains(j.turn, n) })
}

// offers reports whether a job that fits is in memory, ready to go, and whether
// the sender must wait for others first.
func (d *dispatch) offers(fits func(*job) bool) (found, busy bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.ready, fits), d.inFlight > 0
}

// InFlight counts the messages that this node is sending now.
func (q *Queue) InFlight() int {
	q.out.mu.Lock()
	defer q.out.mu.Unlock()
	return q.out.inFlight
}
