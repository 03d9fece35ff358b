package outbox

import (
	"cmp"
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

// try is the way of a message that next has claimed: its card is made and
// posted, the answer judged, and what came of it recorded. It returns when that
// is committed.
func (c *channel) try(ctx context.Context, m *message) {
	// It is not cut off when the shard is handed over: what was sent must be known.
	whole := context.WithoutCancel(ctx)
	rules := c.b.Queue.Rules()
	if r, ok := unsent(m, rules); ok {
		c.save(whole, m, r)
		return
	}
	if c.moved(m, rules) || c.changed(ctx, m) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stale = true // everything is read again
		return
	}
	if c.b.proxy.paused() && c.byProxy() && !c.b.proxy.enter(c.b.Clock()) {
		return
	}
	text := c.b.write(whole, m)
	attempt, o := c.b.post(whole, c.url, text)
	c.b.metrics.attempt(o.verdict, attempt.Took)
	if o.verdict == paused || c.b.proxy.paused() && c.byProxy() {
		c.b.proxy.result(o, c.b.Clock(), c.b.Random, c.b.Log)
	}
	r := settle(&c.standing, m, o, c.b.Clock(), c.b.Random)
	r.Attempt, r.Fingerprint = attempt, c.standing.Fingerprint
	if o.verdict != done {
		r.Exchange = exchangeOf(m, text, o)
	}
	c.save(whole, m, r)
}

// exchangeOf is what is kept of a message that did not get through.
func exchangeOf(m *message, text []byte, o outcome) *notify.Exchange {
	x := &notify.Exchange{Headers: o.headers, Format: m.deliveries[0].Format}
	if len(text) <= notify.MaxRequest {
		x.Request = string(text)
	}
	if len(m.deliveries) > 1 {
		x.Batch = m.deliveries[0].ID
	}
	return x
}

// unsent returns the result of a message that is not to be sent.
func unsent(m *message, rules *notify.RuleSet) (r *notify.Result, ok bool) {
	switch d := m.deliveries[0]; {
	case d.Event == nil:
		return &notify.Result{Deliveries: m.list(), State: notify.Failed, Reason: "The stored event cannot be read."}, true
	case !rules.Enabled(d.Delivery):
		return &notify.Result{Deliveries: m.list(), State: notify.Cancelled, Reason: notify.CancelledReason(d.Rules)}, true
	}
	return nil, false
}

// moved reports whether a message may have gone with its rule to another channel
// or format.
func (c *channel) moved(m *message, rules *notify.RuleSet) bool {
	d := m.deliveries[0]
	return d.Generation != rules.Generation && !rules.On(d.Delivery)
}

// changed reports whether a message may have ended or moved on another node since it
// was read, or its channel have got another webhook URL there. What was read within a second may go out all the same.
func (c *channel) changed(ctx context.Context, m *message) bool {
	if c.b.Alone || c.b.Clock().Sub(c.readAt) < pollEvery {
		return false
	}
	waits, err := c.b.Queue.Waits(ctx, m.deliveries[0].Delivery, c.standing.Fingerprint)
	return err != nil || !waits
}

// post sends text to a webhook URL, within sendTimeout, which is the client's,
// and judges the answer.
func (b *Outbox) post(ctx context.Context, url secret.Value, text []byte) (*work.Attempt, outcome) {
	a := &work.Attempt{At: b.Clock()}
	begun := time.Now()
	resp, answer, err := b.exchange(ctx, url, text)
	a.Took = time.Since(begun)
	if resp != nil {
		a.Status, a.Public = resp.StatusCode, egress.Public(resp)
	}
	o := judge(resp, answer, a.Public, err, b.Clock())
	a.Answer = answer
	if resp != nil && o.verdict != done {
		o.headers = headersOf(resp.Header, url)
	}
	if err != nil {
		a.Err, a.ErrForAll, a.Public = cmp.Or(o.inside, o.reason), o.reason, o.inside == ""
	}
	return a, o
}

// exchange sends text, whose memory is not used again.
func (b *Outbox) exchange(ctx context.Context, url secret.Value, text []byte) (*http.Response, string, error) {
	resp, err := b.Client.PostJSON(ctx, url.Reveal(), text)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	answer := work.ReadMasked(resp.Body, len(url.Reveal()), func(text string) string { return hide(url, text) })
	// Once an answer has begun, its status counts, even if the rest fails.
	_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	return resp, answer, nil
}

// Post posts a message that is in no queue, and gives what came of it. It changes
// nothing of a channel's standing.
func (b *Outbox) Post(ctx context.Context, url secret.Value, message []byte) *work.Attempt {
	a, _ := b.post(ctx, url, message)
	return a
}
