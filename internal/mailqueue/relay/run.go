package relay

import (
	"context"
	"sync"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/work"
)

// run is sending under one lease: a loop that reads what is due, and a worker
// for each conversation with the smarthost.
type run struct {
	*Sender
	out   *dispatch
	lease *db.Lease

	ctx     context.Context // over: nothing is begun any more
	end     func()          // of ctx
	hard    context.Context // over: conversations are cut off
	workers sync.WaitGroup

	mu          sync.Mutex
	gate        work.Gate
	probing     bool   // one message at a time, until the smarthost answers one
	why         string // the gate is closed
	refused     refusals
	lastRefusal string // in a sentence
	holdChanged bool   // lists say so
	limit       limitPause
	share       share
	seen        instructions
	due         time.Time // of the next message that waits; zero: none is known
	connections int       // conversations that there are
	slots       int       // rights to one that workers hold
	fullAgain   time.Time // when there may be as many as configured again; zero: now

	// The loop's own:
	looked time.Time
	warned bool      // that mail waits and no smarthost is set
	failed bool      // the database did not answer the last time
	expiry time.Time // when messages are to be given up next
}

func newRun(s *Sender, lease *db.Lease) *run {
	return &run{Sender: s, out: &s.queue.out, lease: lease, holdChanged: true} // what lists say is from before
}

// run returns when ctx has ended and nothing is in flight.
func (r *run) run(ctx context.Context) {
	hard, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	ctx, r.end = context.WithCancel(ctx)
	defer r.end()
	r.ctx, r.hard = ctx, hard
	r.out.begin(r.o.Connections, r.o.Recipients)
	for ctx.Err() == nil {
		wait := r.turn(ctx)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-r.out.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	r.out.end()
	grace := time.AfterFunc(stopTime, cut)
	r.workers.Wait()
	grace.Stop()
}

// turn does what there is to do, and says when to look again at the latest.
func (r *run) turn(ctx context.Context) time.Duration {
	var err error
	for _, do := range [...]func(context.Context) error{
		r.queue.withdraw, r.look, r.saveHold, r.saveLimit, r.warnOfNowhere, r.expire, r.fill, r.findProbe, r.draw,
	} {
		if err = do(ctx); err != nil {
			break
		}
	}
	if err != nil && ctx.Err() == nil && !r.failed {
		r.o.Log.Warn("the mail queue cannot be read; sending waits", "error", err)
	}
	if r.failed = err != nil; r.failed {
		return retryRead
	}
	r.startWorkers()
	return r.wait()
}

// look reads what administrators want, where it may have changed: on PostgreSQL
// other nodes change it too.
func (r *run) look(ctx context.Context) error {
	asked := r.out.shouldLook()
	if !asked && (r.queue.db.Dialect() == db.SQLite || time.Since(r.looked) < lookEvery) {
		return nil
	}
	now, err := r.queue.readInstructions(ctx)
	if err == nil {
		err = r.heedLimit(ctx)
	}
	if err != nil {
		r.out.queueChanged()
		return err
	}
	r.looked = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.flushes != r.seen.flushes {
		r.resumeSending()
	}
	if now.changes != r.seen.changes {
		r.out.rereadAll()
		r.expiry = time.Time{} // old messages may have been handed over
	}
	r.out.pause(now.paused, now.changes)
	r.seen = now
	return nil
}

// saveHold stores that sending pauses after failures, or no longer does.
func (r *run) saveHold(ctx context.Context) error {
	r.mu.Lock()
	until, why, tell := r.gate.Until, r.why, r.holdChanged
	if r.share.again.After(until) {
		until, why = r.share.again, r.share.why
	}
	r.holdChanged = false
	r.mu.Unlock()
	if !tell {
		return nil
	}
	err := r.queue.noteHold(ctx, until, why, r.o.Smarthost == nil)
	if err != nil {
		r.mu.Lock()
		r.holdChanged = true
		r.mu.Unlock()
	}
	return err
}

// warnOfNowhere logs that mail waits which cannot be sent, once until the queue is
// empty again.
func (r *run) warnOfNowhere(ctx context.Context) error {
	if r.o.Smarthost != nil {
		return nil
	}
	sizes, err := r.queue.Sizes(ctx)
	if err == nil && sizes.Size > 0 && !r.warned {
		r.o.Log.Warn("mail waits and cannot be sent: no smarthost is set; set mail.smarthost and restart", "messages", sizes.Size)
	}
	r.warned = err == nil && sizes.Size > 0 || err != nil && r.warned
	return err
}

// fill reads more when little is ready and something may be due.
func (r *run) fill(ctx context.Context) error {
	if r.blocked(time.Now()) > 0 {
		return nil
	}
	r.mu.Lock()
	if !r.due.IsZero() && !time.Now().Before(r.due) {
		r.due = time.Time{}
		r.out.reread()
	}
	r.mu.Unlock()
	for r.out.needsRefill() {
		next, err := r.queue.load(ctx)
		if err != nil {
			return err
		}
		if next >= 0 {
			r.waits(next)
		}
	}
	return nil
}

// waits notes that a message is due after delay.
func (r *run) waits(delay time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if due := time.Now().Add(delay); r.due.IsZero() || due.Before(r.due) {
		r.due = due
		r.out.wakeSender()
	}
}

// countConnections counts conversations. The first lets others begin.
func (r *run) countConnections(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.connections += n; n > 0 && r.connections == n {
		r.out.wakeSender()
	}
}

// alone reports whether one message at a time is sent: while the smarthost is
// probed, and while there is no conversation with it, so that a password that it
// refuses is shown once, not by every worker. r.mu is held.
func (r *run) alone() bool { return r.probing || r.connections == 0 }

// never is how long the loop waits when only wakeSender can give it something to do.
const never = time.Hour

// wait says when to look again.
func (r *run) wait() time.Duration {
	now := time.Now()
	wait := never
	if r.queue.db.Dialect() == db.Postgres || !r.lease.Good(beginMargin) {
		wait = lookEvery
	}
	if r.mayExpire() {
		wait = min(wait, max(r.expiry.Sub(now), 0))
	}
	if blocked := r.blocked(now); blocked > 0 {
		return min(wait, blocked)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range [...]time.Time{r.due, r.fullAgain} {
		if !at.IsZero() {
			wait = min(wait, max(at.Sub(now), 0))
		}
	}
	return wait
}

// blocked is for how long nothing is sent.
func (r *run) blocked(now time.Time) time.Duration {
	if r.out.isPaused() || r.o.Smarthost == nil {
		return never
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.gate.Until.Sub(now), r.share.again.Sub(now))
}

// startWorkers has workers send what is ready.
func (r *run) startWorkers() {
	r.mu.Lock()
	if !r.fullAgain.IsZero() && !time.Now().Before(r.fullAgain) {
		r.fullAgain = time.Time{}
		r.out.setLimit(r.o.Connections)
	}
	alone := r.alone()
	r.mu.Unlock()
	if r.blocked(time.Now()) > 0 || !r.lease.Good(beginMargin) {
		return
	}
	for range r.out.wakeWorkers(alone) {
		w := &worker{run: r, wake: make(chan struct{}, 1)}
		r.workers.Go(w.work)
	}
}

// take returns the next message to send, nil when there is none to send now.
func (r *run) take() *job {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil || !r.gate.Open(time.Now()) || !r.lease.Good(beginMargin) {
		return nil
	}
	j := r.out.take(r.alone(), r.affordable())
	if j != nil {
		if r.o.Limits.counted() {
			r.spend(1, len(j.turn))
		}
		j.probe = r.probing && r.refused.seeking()
	}
	return j
}

// waitForWork waits until there may be something to send; false when there was
// nothing for restTime.
func (r *run) waitForWork(w *worker) bool {
	if !r.out.addIdle(w) {
		return false
	}
	rest := restTime
	if w.slot != nil {
		rest = slotRest
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-w.wake:
		return true
	case <-timer.C:
	}
	if r.out.removeIdle(w) {
		return false
	}
	<-w.wake // it was woken just now
	return true
}
