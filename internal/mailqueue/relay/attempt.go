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

// attempt sends a message and returns the outcome for each recipient whose turn it is, or
// nil if there is none and the message is to wait.
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
		turn := pick(j.turn, places)
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

// pick returns the elements of list at the places in which.
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

// connect opens a session, and reports whether it could; if not, sending pauses.
func (w *worker) connect() bool {
	session, err := w.o.Smarthost.Connect(w.ctx)
	if err != nil {
		if w.ctx.Err() == nil {
			w.cannotConnect(fault.As(err).Message)
		}
		return false
	}
	session.Until(w.hard)
	w.session = session
	w.run.countConnections(1)
	return true
}

// transact has one transaction with the smarthost. It returns an error if the message
// cannot be read.
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
