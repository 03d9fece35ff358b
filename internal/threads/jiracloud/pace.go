package jiracloud

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"outrigger/internal/work"
)

// endpoint is one of the API's; each has a limit of its own.
type endpoint uint8

const (
	listing endpoint = iota
	reading
	writing
	deleting
	permissions
	fetching
	endpoints
)

func (e endpoint) method() string {
	return [endpoints]string{http.MethodGet, http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodGet, http.MethodPost}[e]
}

// expected are the statuses of a success.
func (e endpoint) expected() []int {
	return [endpoints][]int{
		{http.StatusOK}, {http.StatusOK}, {http.StatusOK, http.StatusCreated}, {http.StatusNoContent}, {http.StatusOK}, {http.StatusOK},
	}[e]
}

const (
	// readsPerSecond and writesPerSecond are four fifths of the vendor's 100 and
	// 50 for each endpoint of a site: others use it too.
	readsPerSecond  = 80
	writesPerSecond = 40
	// atOnce is how many requests may come together within those rates.
	atOnce = 10

	// The vendor lets 20 writes in 2 s and 100 in 30 s go to one issue. Ten at
	// once and then one in 350 ms are 15 and 95.
	issueBurst = 10
	issueEvery = 350 * time.Millisecond

	// nearEvery is the pace while less than a fifth of an hourly quota is left.
	// The smallest quota is 65,000 points and a request costs one: a fifth of it
	// lasts for the hour.
	nearEvery = time.Second

	// manyIssues is how many issues are remembered before those are forgotten
	// that were not written to for some seconds.
	manyIssues = 256
)

// pace keeps the site's limits.
type pace struct {
	slots  chan struct{}
	limits [endpoints]*rate.Limiter
	near   *rate.Limiter
	isNear atomic.Bool
	every  time.Duration // between the writes to one issue

	mu     sync.Mutex
	issues map[int64]*turn
}

func newPace(requests int, perSecond float64) *pace {
	p := &pace{
		slots: make(chan struct{}, requests), near: rate.NewLimiter(rate.Every(nearEvery), 1), every: issueEvery, issues: map[int64]*turn{},
	}
	for e := range endpoints {
		limit := rate.Limit(perSecond)
		switch {
		case perSecond > 0:
		case e.method() == http.MethodGet:
			limit = readsPerSecond
		default:
			limit = writesPerSecond
		}
		p.limits[e] = rate.NewLimiter(limit, atOnce)
	}
	return p
}

// begin waits until a request may be sent; done says that it is answered. An
// error is ctx's.
func (p *pace) begin(ctx context.Context, e endpoint) (done func(), err error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	done = func() { <-p.slots }
	if err = wait(ctx, p.limits[e]); err == nil && p.isNear.Load() {
		err = wait(ctx, p.near)
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// wait is the limiter's, which refuses at once what ctx would end before its
// time.
func wait(ctx context.Context, l *rate.Limiter) error {
	r := l.Reserve()
	if err := work.Sleep(ctx, r.Delay()); err != nil {
		r.Cancel()
		return err
	}
	return nil
}

// heed notes what an answer says of the quota.
func (p *pace) heed(h http.Header) { p.isNear.Store(h.Get("X-RateLimit-NearLimit") == "true") }

// turn is the right to write to an issue.
type turn struct {
	pace  *pace
	limit *rate.Limiter
	taken chan struct{}
	users int // who has it or waits for it; pace's mu is for it
}

// turn waits until no other request writes to the issue.
func (p *pace) turn(ctx context.Context, issue int64) (*turn, error) {
	p.mu.Lock()
	t := p.issues[issue]
	if t == nil {
		if len(p.issues) >= manyIssues {
			p.forget()
		}
		t = &turn{pace: p, limit: rate.NewLimiter(rate.Every(p.every), issueBurst), taken: make(chan struct{}, 1)}
		p.issues[issue] = t
	}
	t.users++
	p.mu.Unlock()
	select {
	case t.taken <- struct{}{}:
		return t, nil
	case <-ctx.Done():
		t.leave()
		return nil, ctx.Err()
	}
}

// forget drops the issues that are not written to and that owe no pause; mu is
// held.
func (p *pace) forget() {
	for issue, t := range p.issues {
		if t.users == 0 && t.limit.Tokens() >= issueBurst {
			delete(p.issues, issue)
		}
	}
}

// wait waits until the issue may be written to once more.
func (t *turn) wait(ctx context.Context) error { return wait(ctx, t.limit) }

func (t *turn) end() {
	<-t.taken
	t.leave()
}

func (t *turn) leave() {
	t.pace.mu.Lock()
	defer t.pace.mu.Unlock()
	t.users--
}
