package relay

import (
	"context"
	"io"
	"strings"
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

// notification is what the sender of a message hears of recipients that failed;
// nil: nothing.
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

// settle returns when the outcome of the last message is committed, or another
// node has the queue.
func (w *worker) settle() {
	if !w.settled() {
		w.out.finished(w.last.job, !w.retrySave(w.last))
		w.last = nil
	}
}

// settled reports whether it is, having waited for one commit.
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

// attempt returns the outcome for each recipient; nil when there is none, and the
// message is to wait.
func (w *worker) attempt(j *job) []outcome {
	outcomes := make([]outcome, len(j.turn))
	places := make([]int, len(j.turn)) // in the turn, of those that are sent to now
	for i := range places {
		places[i] = i
	}
	var rewritten *short // nil: it goes as it came
	for {
		if w.session == nil && !w.connect() {
			return nil
		}
		turn := make([]int, len(places))
		for i, place := range places {
			turn[i] = j.turn[place]
		}
		kept := w.session.Used() > 0
		res, err := w.transact(j, turn, rewritten)
		if err != nil {
			return unreadable(j, err)
		}
		// A token may end while its session is kept.
		tokenOver := refusesUs(res) && w.session.RefuseSignIn() && kept
		if res.Err != nil || res.Unsent || refusesUs(res) {
			w.closeSession()
		}
		if res.Unsent || w.hard.Err() != nil && res.End.Code == 0 {
			return nil
		}
		limit := w.o.Limits.reached(res)
		if limit != nil {
			w.endSession()
			if w.limited(j, limit) {
				return nil
			}
		}
		if limit == nil && (tokenOver || kept && res.Err != nil && (res.Mail.Code == 0 || res.Mail.Code == 421)) {
			continue // smarthosts end idle sessions: try the message on a new one
		}
		if rewritten == nil && refusesLine(res) {
			if rewritten = w.shorten(j); rewritten != nil {
				continue
			}
		}
		v := judge(j, turn, res, time.Now(), w.o.GiveUpAfter)
		for i, place := range places {
			outcomes[place] = v.outcomes[i]
			if o := &outcomes[place]; limit != nil && o.state == mailqueue.Failed && o.answer == limit.said {
				to := &j.recipients[turn[i]]
				o.deferred(to, to.since(j.queuedAt), time.Now(), w.o.GiveUpAfter)
			}
		}
		switch {
		case len(v.again) > 0:
			places = pick(places, v.again)
			continue
		case v.pushback != nil:
			w.refuses(j, v.pushback)
		default:
			w.answered(j, res.End.Code/100 == 2)
		}
		return outcomes
	}
}

// pick is the elements of list at the places in which.
func pick(list, which []int) []int {
	picked := make([]int, len(which))
	for i, n := range which {
		picked[i] = list[n]
	}
	return picked
}

// refusesUs reports whether the smarthost takes nothing in this session, signed in
// and encrypted as it is.
func refusesUs(res *smtpclient.Result) bool {
	return res.Mail.Code >= 500 && isTemporary(res.Mail.Code)
}

// connect opens a session; false when sending pauses for want of one.
func (w *worker) connect() bool {
	talk, err := w.o.Smarthost.Connect(w.ctx)
	if err != nil {
		if w.ctx.Err() == nil {
			w.cannotConnect(fault.As(err).Message)
		}
		return false
	}
	talk.Until(w.hard)
	w.session = talk
	w.run.countConnections(1)
	return true
}

// transact has one transaction with the smarthost. The error is of a message
// that cannot be read.
func (w *worker) transact(j *job, turn []int, rewritten *short) (*smtpclient.Result, error) {
	m := j.message(turn)
	m.MayEnd = func() bool { return w.settled() && w.lease.Good(endMargin) && w.hard.Err() == nil }
	size, open := j.size, func() (io.ReadCloser, error) { return w.open(j) }
	if rewritten != nil {
		size, open, m.OpenEnd = rewritten.size, rewritten.open, false
	}
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head, content := j.received(), &contentReader{r: r, over: w.hard}
	m.Size, m.Content = int64(len(head))+size, io.MultiReader(strings.NewReader(head), content)
	res := w.session.Send(m)
	if content.broken != nil {
		w.closeSession()
		return nil, content.broken
	}
	return &res, nil
}

// open reads the message as it came in.
func (w *worker) open(j *job) (io.ReadCloser, error) { return w.queue.open(w.hard, j, &w.text) }

// contentReader distinguishes a damaged message from a database that does not
// answer.
type contentReader struct {
	r      io.Reader
	over   context.Context
	broken error
}

func (f *contentReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF && !fault.Is(err, fault.Unavailable) && f.over.Err() == nil {
		f.broken = err
	}
	return n, err
}

// retrySave commits a result that could not be. While that fails it is tried again,
// and this worker sends nothing, so that a failing disk is not a flood of
// repeated messages.
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
