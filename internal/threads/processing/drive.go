package processing

import (
	"context"
	"errors"
	"slices"
	"time"

	"outrigger/internal/threads"
	"outrigger/internal/work"
)

// verdict is how a drive ended.
type verdict uint8

const (
	finished  verdict = iota // everything is done
	exhausted                // too many rate limits, or failures for too long
	refused                  // the target does not want us
)

const (
	// window is how many issues may be ahead of one that fails again and again:
	// what a crash repeats at most.
	window = 256

	// keepEvery and keepMost say when what is done is stored: often enough for
	// who watches, seldom enough to cost little.
	keepEvery = 500 * time.Millisecond
	keepMost  = 64
)

// again is how long an issue that failed rests while others go on.
var again = work.Backoff{
	Steps:  []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, time.Minute},
	Jitter: 0.2,
}

// driver asks the target about the tasks of a feed, several at once, as fast as
// the target lets it.
type driver struct {
	p         *Processor
	feed      feed
	elsewhere *data // where other issues are asked about; nil: nowhere
	pace      threads.Pace

	window   []*task
	ended    bool // the feed has no more
	answers  chan *answer
	underWay int
	doubt    doubt
	refusal  string // why the target does not want us
	retried  int64
	kept     time.Time
	looked   time.Time
	trouble  string // what the target said last that was no success
	waiting  bool   // the log says that the target is waited for
}

type answer struct {
	task    *task
	parents threads.ParentMap
	err     error
}

// drive asks about everything that feed gives. The message says why it is not
// finished. An error is one of the database, or ctx's.
func (p *Processor) drive(ctx context.Context, f feed, e *data, pace threads.Pace) (verdict, string, error) {
	if pace.RateLimits >= threads.MaxRateLimits { // a worker before this one had no time to say so
		return exhausted, pace.Exhausted(p.Clock()), nil
	}
	asking, cancel := context.WithCancel(ctx)
	d := &driver{p: p, feed: f, elsewhere: e, pace: pace, answers: make(chan *answer, p.Requests), kept: p.Clock(), looked: p.Clock()}
	v, message, err := d.run(ctx, asking)
	cancel()
	for ; d.underWay > 0; d.underWay-- {
		if a := <-d.answers; a.err == nil {
			a.task.state, a.task.parents = done, a.parents
		}
	}
	if err != nil {
		d.leave(ctx, err)
	}
	return v, message, err
}

func (d *driver) run(ctx, asking context.Context) (verdict, string, error) {
	for {
		if err := d.fill(ctx); err != nil {
			return finished, "", err
		}
		d.start(asking)
		if d.underWay == 0 {
			if v, message, over, err := d.settle(ctx); over || err != nil {
				return v, message, err
			}
		}
		if d.isTime() {
			if err := d.keep(ctx); err != nil {
				return finished, "", err
			}
		}
		look := d.p.Clock().Sub(d.looked) >= lookEvery
		select {
		case <-ctx.Done():
			return finished, "", ctx.Err()
		case a := <-d.answers:
			if err := d.take(a); err != nil {
				return finished, "", err
			}
			if err := d.examine(ctx); err != nil {
				return finished, "", err
			}
			d.p.beat()
		case <-d.p.stopped:
			look = true
		case <-time.After(d.rest()):
			if d.underWay == 0 {
				d.p.beat() // a wait is no standstill
			}
		}
		if look {
			d.looked = d.p.Clock()
			if err := d.p.retry(ctx, "look for a stop", d.feed.wanted); err != nil {
				return finished, "", err
			}
		}
	}
}

// fill takes tasks from the feed, and passes over those with nothing to ask.
func (d *driver) fill(ctx context.Context) error {
	for !d.ended && len(d.window) < window {
		t, err := d.feed.next(ctx)
		if err != nil {
			return err
		}
		if t == nil {
			d.ended = true
			return nil
		}
		if t.ask == nil {
			t.state = done
		}
		d.window = append(d.window, t)
		if len(d.window) == window && d.prefix() == window {
			if err := d.keep(ctx); err != nil { // a long stretch with nothing to ask
				return err
			}
		}
	}
	return nil
}

// start asks about as many tasks as the pace allows now.
func (d *driver) start(ctx context.Context) {
	now := d.p.Clock()
	slots := d.pace.Slots(now, d.underWay, d.p.Requests)
	if slots <= 0 || d.refusal != "" {
		return
	}
	if d.doubt.probes != nil {
		d.probe(ctx, now)
		return
	}
	busy := map[int64]bool{} // issues with an earlier task that is not done
	for _, t := range d.window {
		if slots == 0 {
			return
		}
		if t.state == done {
			continue
		}
		if t.state == waiting && !now.Before(t.due) && !busy[t.issue] {
			d.ask(ctx, t)
			slots--
		}
		busy[t.issue] = true
	}
}

// ask asks about a task.
func (d *driver) ask(ctx context.Context, t *task) {
	t.state = underWay
	d.underWay++
	go func() {
		parents, err := t.ask(ctx)
		d.answers <- &answer{t, parents, err}
	}()
}

// take notes what the target said about a task. An error is one of the database.
func (d *driver) take(a *answer) error {
	d.underWay--
	t := a.task
	if t.broken != nil {
		t.state = waiting
		return t.broken
	}
	if a.err == nil {
		t.state, t.parents = done, a.parents
		d.count("ok")
		d.succeeded()
		return nil
	}
	var e *threads.TargetError
	if !errors.As(a.err, &e) {
		e = &threads.TargetError{Kind: threads.TargetFails, Message: "The target did not answer", Cause: a.err}
	}
	now := d.p.Clock()
	switch e.Kind {
	case threads.TargetMissing, threads.TargetForbids, threads.TargetChanged:
		t.state, t.failed, t.refused, t.answer = done, true, e.Kind, threads.AnswerAbout(e, t.issue)
		d.count(outcomeOf[e.Kind])
		d.pace.Success()                     // it answers us
		if e.Kind != threads.TargetChanged { // which is about this issue, and no one else's doing
			d.refused(t, e)
		}
	case threads.TargetRefusesUs:
		t.state = waiting
		d.count("refused")
		d.refusal = e.Error()
	case threads.TargetLimits:
		t.state = waiting
		d.retried++
		d.count("limited")
		d.trouble = e.Sentence()
		d.pace.RateLimited(now, e)
	default:
		t.state = waiting
		t.due = now.Add(again.Delay(t.failures, d.p.Random))
		t.failures++
		d.retried++
		d.count("failed")
		d.trouble = e.Sentence()
		d.pace.Failed(now, e)
		d.p.Log.Warn("the target failed; will ask again", "issue", t.issue, "error", a.err)
	}
	return nil
}

func (d *driver) count(outcome string) { d.p.metrics.requests.WithLabelValues(outcome).Inc() }

var outcomeOf = map[threads.TargetFailure]string{
	threads.TargetMissing: "missing", threads.TargetForbids: "forbidden", threads.TargetChanged: "changed",
}

// settle is called when nothing is under way: a wait may begin, or an end.
func (d *driver) settle(ctx context.Context) (v verdict, message string, over bool, err error) {
	if d.refusal != "" {
		return refused, d.refusal, true, d.keepAll(ctx)
	}
	if d.pace.Settle(d.p.Clock(), d.p.Random) {
		if err := d.keep(ctx); err != nil {
			return finished, "", false, err
		}
		d.logWait()
		if why := d.pace.Exhausted(d.p.Clock()); why != "" {
			return exhausted, why, true, d.keepAll(ctx)
		}
	}
	if !d.ended {
		return finished, "", false, nil
	}
	if d.doubt.probes != nil {
		return finished, "", false, nil
	}
	for _, t := range d.window {
		if t.state != done {
			return finished, "", false, nil
		}
		t.held = false // nothing comes that could say otherwise
	}
	return finished, "", true, d.keep(ctx)
}

// logWait says that a wait has begun: each that the target asks for, and of those
// that it does not, the first since a success.
func (d *driver) logWait() {
	if !d.waiting || d.pace.Declared {
		d.p.Log.Warn("the target is waited for", append(d.feed.about(), "until", d.pace.WaitUntil, "reason", d.trouble)...)
	}
	d.waiting = true
}

// rest is how long nothing has to be done unless an answer comes.
func (d *driver) rest() time.Duration {
	now := d.p.Clock()
	rest := lookEvery
	if until := d.pace.WaitUntil.Sub(now); until > 0 {
		rest = min(rest, until)
	} else {
		for _, t := range slices.Concat(d.doubt.probes, d.window) {
			if due := t.due.Sub(now); t.state == waiting && due > 0 {
				rest = min(rest, due)
			}
		}
	}
	if d.prefix() > 0 {
		rest = min(rest, keepEvery)
	}
	return max(rest, time.Millisecond)
}
