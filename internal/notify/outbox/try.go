package outbox

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/notify"
	"outrigger/internal/work"
)

const (
	// sendTimeout bounds one POST, from dialling to the end of the answer.
	sendTimeout = egress.Timeout
	// commitMargin is what a result may take to be committed before the
	// lease under which it was sent ends.
	commitMargin = 2 * time.Second
	// maxDrain is how much more of an answer is read so that the connection
	// can be used again.
	maxDrain = 64 << 10
	// setAsideAfter is how many server errors a message gets before each
	// further one has the message behind it tried too: if that is taken, the
	// first has failed.
	setAsideAfter = 5
	// rejectsToBreak is how many messages in a row are refused before it is
	// the channel that is wrong, not the messages.
	rejectsToBreak = 5
	// quietUpdate spares the channel's row a write for every 2xx.
	quietUpdate = time.Minute
)

// gateSteps is how long a channel rests after each failure in a row.
var gateSteps = work.Backoff{
	Steps: []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
	},
	Jitter: 0.1,
}

// try sends one delivery, or settles it without sending, and keeps what came
// of it. It returns when that is committed.
func (c *channel) try(ctx context.Context, d *queued) {
	rules := c.b.Queue.Rules()
	switch {
	case d.Event == nil:
		c.keep(ctx, &notify.Result{Delivery: d.Delivery, State: notify.Failed, Reason: "The stored event cannot be read."})
		return
	case !rules.Enabled(d.Rules):
		c.keep(ctx, &notify.Result{Delivery: d.Delivery, State: notify.Cancelled, Reason: notify.CancelledReason})
		return
	case d.Generation != rules.Generation && !rules.On(d.Rules, c.id):
		c.mu.Lock()
		c.stale = true // it may have moved with its rule to another channel
		c.mu.Unlock()
		return
	}
	attempt, o := c.post(ctx, d.Delivery)
	c.b.metrics.attempt(o.verdict, attempt.Took)
	c.keep(ctx, c.result(d.Delivery, attempt, o))
}

// post sends the message, within sendTimeout, which is the client's. It is not
// cut off when the shard is handed over: what was sent must be known.
func (c *channel) post(ctx context.Context, d *notify.Delivery) (*work.Attempt, outcome) {
	ctx = context.WithoutCancel(ctx)
	a := &work.Attempt{At: c.b.Clock()}
	begun := time.Now()
	message := messages.Get().(*[]byte)
	defer messages.Put(message)
	*message = c.b.Message((*message)[:0], d.Event, d.Format)
	resp, answer, err := c.exchange(ctx, *message)
	a.Took = time.Since(begun)
	answer = hide(c.url, answer)
	o := judge(resp, answer, err, c.b.Clock())
	if resp != nil {
		a.Status = resp.StatusCode
	}
	a.Answer = answer
	if err != nil {
		a.Err = o.reason
	}
	return a, o
}

// messages hold what is being sent; none is long, since platforms take none such.
var messages = sync.Pool{New: func() any { return new([]byte) }}

// exchange sends body, of which nothing is read once it has returned.
func (c *channel) exchange(ctx context.Context, body []byte) (*http.Response, string, error) {
	req, err := egress.NewRequest(ctx, http.MethodPost, c.url.Reveal(), bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	// Without a charset some flows read the body as UTF-16.
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := c.b.Client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	answer := work.ReadAnswer(resp.Body)
	// Once an answer has begun, its status counts, whatever becomes of the rest.
	_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	return resp, answer, nil
}

// result works out what an outcome means for the delivery and the channel,
// whose new standing takes effect here when it has been kept.
func (c *channel) result(d *notify.Delivery, a *work.Attempt, o outcome) *notify.Result {
	r := &notify.Result{Delivery: d, Attempt: a, State: notify.Waiting, Reason: o.reason}
	now := c.b.Clock()
	before, after := c.standing, c.standing
	aside := c.triedFor(d)
	r.Probe, c.probe = aside != nil, 0
	switch o.verdict {
	case done:
		r.State, r.Reason, r.SetAside = notify.Delivered, "", aside
		after.GateStep, after.GateUntil, after.GateReason = 0, time.Time{}, ""
		after.Rejected, after.FailingSince = 0, time.Time{}
		if after != before || now.Sub(before.LastOKAt) >= quietUpdate {
			after.LastOKAt = now
		}
	case wait:
		if a.Status >= 500 && aside == nil && d.Errors5xx+1 >= setAsideAfter && c.hasNext(d) {
			// Poison or an outage? The one behind it, tried now, will tell.
			c.probe = d.ID
			if after.FailingSince.IsZero() {
				after.FailingSince = now
			}
		} else {
			closeGate(&after, now, o, c.b.Random)
		}
	case reject:
		r.State = notify.Failed
		after.Rejected++
		if after.Rejected >= rejectsToBreak {
			breakDown(&after, now, "It refused "+strconv.Itoa(after.Rejected)+" messages in a row. The last time: "+o.reason)
		}
	case broken:
		breakDown(&after, now, o.reason)
	}
	if after != before {
		r.Channel = &after
	}
	return r
}
