package outbox

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
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
		c.save(ctx, m, &notify.Result{Deliveries: m.list(), State: notify.Failed, Reason: "The stored event cannot be read."})
		return
	case !rules.Enabled(d.Rules):
		c.save(ctx, m, &notify.Result{Deliveries: m.list(), State: notify.Cancelled, Reason: notify.CancelledReason})
		return
	case d.Generation != rules.Generation && !rules.On(d.Rules, c.id):
		c.mu.Lock()
		c.stale = true // it may have moved with its rule to another channel
		c.mu.Unlock()
		return
	}
	if c.b.proxy.paused() && c.byProxy() && !c.b.proxy.enter(c.b.Clock()) {
		return
	}
	attempt, o := c.post(ctx, m)
	c.b.metrics.attempt(o.verdict, attempt.Took)
	if o.verdict == paused || c.b.proxy.paused() && c.byProxy() {
		c.b.proxy.result(o, c.b.Clock(), c.b.Random, c.b.Log)
	}
	r := settle(&c.standing, m, o, c.b.Clock(), c.b.Random)
	r.Attempt = attempt
	c.save(ctx, m, r)
}

// usualMessage is what most messages stay below, in bytes.
const usualMessage = 3 << 10

// post sends the message. It is not cut off when the shard is handed over:
// what was sent must be known.
func (c *channel) post(ctx context.Context, m *message) (*work.Attempt, outcome) {
	text := c.b.write(make([]byte, 0, usualMessage), m)
	return c.b.post(context.WithoutCancel(ctx), c.url, text)
}

// post sends text to a webhook URL, within sendTimeout, which is the client's.
func (b *Outbox) post(ctx context.Context, url secret.Value, text []byte) (*work.Attempt, outcome) {
	a := &work.Attempt{At: b.Clock()}
	begun := time.Now()
	resp, answer, err := b.exchange(ctx, url, text)
	a.Took = time.Since(begun)
	answer = hide(url, answer)
	o := judge(resp, answer, err, b.Clock())
	if resp != nil {
		a.Status = resp.StatusCode
	}
	a.Answer = answer
	if err != nil {
		a.Err = o.reason
	}
	return a, o
}

// exchange sends text. The client may read it after exchange has failed, so its
// memory is not used again. net/http sends a bytes.Reader in one packet with the
// header; before any other reader it would send the header by itself.
func (b *Outbox) exchange(ctx context.Context, url secret.Value, text []byte) (*http.Response, string, error) {
	req, err := egress.NewRequest(ctx, http.MethodPost, url.Reveal(), bytes.NewReader(text))
	if err != nil {
		return nil, "", err
	}
	// Without a charset some flows read the body as UTF-16.
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := b.Client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	answer := work.ReadAnswer(resp.Body)
	// Once an answer has begun, its status counts, whatever becomes of the rest.
	_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	return resp, answer, nil
}

// Post posts a message that is in no queue, and gives what came of it. It changes
// nothing of a channel's standing.
func (b *Outbox) Post(ctx context.Context, url secret.Value, message []byte) *work.Attempt {
	a, _ := b.post(ctx, url, message)
	return a
}
