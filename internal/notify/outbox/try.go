package outbox

import (
	"bytes"
	"context"
	"io"
	"net/http"
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
)

// try sends a message, or settles it without sending, and keeps what came of
// it. It returns when that is committed.
func (c *channel) try(ctx context.Context, m *message) {
	rules := c.b.Queue.Rules()
	switch d := m.deliveries[0]; {
	case d.Event == nil:
		c.keep(ctx, m, &notify.Result{Deliveries: m.list(), State: notify.Failed, Reason: "The stored event cannot be read."})
		return
	case !rules.Enabled(d.Rules):
		c.keep(ctx, m, &notify.Result{Deliveries: m.list(), State: notify.Cancelled, Reason: notify.CancelledReason})
		return
	case d.Generation != rules.Generation && !rules.On(d.Rules, c.id):
		c.mu.Lock()
		c.stale = true // it may have moved with its rule to another channel
		c.mu.Unlock()
		return
	}
	if !c.b.proxy.enter(c.b.Clock()) {
		return
	}
	attempt, o := c.post(ctx, m)
	c.b.metrics.attempt(o.verdict, attempt.Took)
	c.b.proxy.result(o, c.b.Clock(), c.b.Random, c.b.Log)
	r := settle(&c.standing, m, o, c.b.Clock(), c.b.Random)
	r.Attempt = attempt
	c.keep(ctx, m, r)
}

// post sends the message, within sendTimeout, which is the client's. It is not
// cut off when the shard is handed over: what was sent must be known.
func (c *channel) post(ctx context.Context, m *message) (*work.Attempt, outcome) {
	ctx = context.WithoutCancel(ctx)
	a := &work.Attempt{At: c.b.Clock()}
	begun := time.Now()
	body := bodies.Get().(*[]byte)
	defer bodies.Put(body)
	*body = c.b.write((*body)[:0], m)
	resp, answer, err := c.exchange(ctx, *body)
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

// bodies hold what is being sent; none is long, since platforms take none such.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

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
