package relay

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtpclient"
)

// worker has one session with the smarthost and sends one message after
// the other over it. While the outcome of one is committed the next is begun,
// and completed behind the commit: what a crash repeats is one message for each
// worker.
type worker struct {
	*run
	wake    chan struct{}
	session *smtpclient.Session
	slot    *slot        // nil: none
	text    []byte       // the message that is being sent, where it was read back
	last    *result      // the outcome that is being committed; nil: none is
	done    func() error // waits until it is, or could not be
}

func (w *worker) work() {
	defer w.releaseSlot()
	defer w.endSession()
	defer w.settle()
	for w.session != nil || !w.out.overLimit() {
		if !w.hasSlot() {
			continue
		}
		j := w.take()
		switch {
		case j != nil:
			w.send(j)
		case w.last != nil:
			w.settle()
		case !w.waitForWork(w):
			return
		}
	}
}

// endSession ends the session, if there is one, in good order.
func (w *worker) endSession() {
	if w.session != nil {
		w.session.Quit()
		w.closeSession()
	}
}

// closeSession ends the session.
func (w *worker) closeSession() {
	w.session.Close()
	w.session = nil
	w.run.countConnections(-1)
}

// send sends a message and has what came of it committed.
func (w *worker) send(j *job) {
	res := &result{job: j, at: time.Now(), lease: w.lease.Name(), fence: w.lease.Fence()}
	res.outcomes = w.attempt(j)
	if res.outcomes != nil {
		res.bounce = w.notification(j, res.failed())
	}
	w.settle()
	if res.outcomes == nil {
		w.giveBack(j)
		w.out.finished(j, true)
		return
	}
	res.took = time.Since(res.at)
	w.last, w.done = res, w.queue.results.Begin(res)
}

// notification returns the message that tells a sender of recipients that failed, or nil
// if there is none.
func (r *run) notification(j *job, failed recipients) *arrival {
	if !r.o.Bounces || r.o.Smarthost == nil {
		return nil
	}
	b := bouncer{r.queue, r.o.Smarthost.Hostname}
	bounce, err := b.notification(r.hard, j, failed)
	if err != nil {
		r.o.Log.Error("the sender of a message that failed is not told", "message", j.id, "error", err)
	}
	return bounce
}

// settle waits until the outcome of the last message is committed, or another node has
// the queue.
func (w *worker) settle() {
	if !w.settled() {
		w.out.finished(w.last.job, !w.retrySave(w.last))
		w.last = nil
	}
}

// settled waits for the commit of the last outcome, and reports whether it succeeded or
// there was none.
func (w *worker) settled() bool {
	if w.last == nil {
		return true
	}
	if w.done() != nil {
		w.queue.uncertain(w.last.bounce)
		return false
	}
	w.noteResult(w.last)
	w.out.finished(w.last.job, false)
	w.last = nil
	return true
}

// retrySave commits a result whose commit failed, again and again, and reports whether it
// succeeded. Meanwhile this worker sends nothing, so that a failing disk is not a flood
// of repeated messages.
func (w *worker) retrySave(res *result) bool {
	for said := false; ; said = true {
		err := w.queue.saveResult(context.WithoutCancel(w.hard), res)
		if err == nil {
			w.noteResult(res)
			return true
		}
		w.queue.uncertain(res.bounce)
		if fault.Is(err, fault.Conflict) || !w.lease.Good(0) {
			// The queue is another's, who sends this message again: the
			// repetition that at-least-once allows. There must be no more.
			w.end()
			return false
		}
		if !said {
			w.o.Log.Error("the outcome of a message could not be saved; its session waits", "message", res.id, "error", err)
		}
		select {
		case <-time.After(retryRead):
		case <-w.lease.Lost():
			return false
		case <-w.hard.Done():
			return false
		}
	}
}

func (w *worker) noteResult(res *result) {
	sent, failed, deferred := false, false, false
	next := time.Duration(-1)
	for i := range res.outcomes {
		o := &res.outcomes[i]
		sent = sent || o.state == mailqueue.Sent
		failed = failed || o.state == mailqueue.Failed
		deferred = deferred || o.state == mailqueue.Waiting && o.counts
		if o.state == mailqueue.Waiting && (next < 0 || o.delay < next) {
			next = o.delay
		}
	}
	if sent {
		w.queue.metrics.sent.Inc()
	}
	if deferred {
		w.queue.metrics.deferred.Inc()
	}
	if failed {
		w.o.Log.Warn("a message came into the mail error queue", "message", res.id)
	}
	if next >= 0 {
		w.waits(next)
	}
}
