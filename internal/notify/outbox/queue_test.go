package outbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// queue keeps deliveries in memory as the store does.
type queue struct {
	mu         sync.Mutex
	rules      *notify.RuleSet
	deliveries []*notify.Delivery
	channels   map[int64]*notify.Channel
	refuse     int // so many Keeps fail
	conflict   bool
	answer     string             // of the last attempt
	exchanges  []*notify.Exchange // of all attempts
	released   string             // shards and age of what may go out undecided
	urls       map[int64]string   // where not the channel's own
	latest     *notify.RuleSet    // what Load finds; nil: no change
}

func newQueue() *queue {
	q := &queue{channels: make(map[int64]*notify.Channel)}
	var rules []*notify.Rule
	for id := range int64(3) {
		rules = append(rules, &notify.Rule{
			ID: id, Connection: "dc", Enabled: true, ChannelID: 1 + id*notify.Shards, Format: notify.Teams,
			Filter: notify.Filter{EventTypes: []notify.EventType{notify.TagCreated}},
		})
		q.channels[1+id*notify.Shards] = &notify.Channel{ID: 1 + id*notify.Shards, State: notify.Open}
	}
	q.rules, _ = new(notify.RuleSet).Next(1, rules)
	return q
}

// reformat is a save on another node that gives the rules another format.
func (q *queue) reformat(to notify.Format) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var rules []*notify.Rule
	for id := range int64(3) {
		r := *q.rules.Rule(id)
		r.Format = to
		rules = append(rules, &r)
	}
	q.rules, _ = new(notify.RuleSet).Next(q.rules.Generation+1, rules)
	for _, d := range q.deliveries {
		if d.State == notify.Waiting {
			d.Format = to
		}
	}
}

// add stores a message for the channel of rule, with its changes made before
// anything can read it, and returns a copy.
func (q *queue) add(rule int64, name string, changes ...func(*notify.Delivery)) *notify.Delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := &notify.Delivery{
		ID: int64(len(q.deliveries) + 1), ChannelID: 1 + rule*notify.Shards, Rules: []int64{rule}, State: notify.Waiting,
		Format: notify.Teams, Event: &notify.Event{URL: "/" + name}, Generation: q.rules.Generation,
	}
	for _, change := range changes {
		change(d)
	}
	q.deliveries = append(q.deliveries, d)
	c := *d
	return &c
}

func (q *queue) NextDeliveries(_ context.Context, channel int64, limit int) ([]*notify.Delivery, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []*notify.Delivery
	for _, d := range q.deliveries {
		if d.ChannelID == channel && (d.State == notify.Waiting || d.State == notify.Deciding) && d.DueAt.IsZero() && !d.HeldUntil.After(time.Now()) && len(out) < limit {
			c := *d
			c.Generation = q.rules.Generation
			out = append(out, &c)
		}
	}
	slices.SortFunc(out, func(a, b *notify.Delivery) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

func (q *queue) Waits(_ context.Context, d *notify.Delivery, _ string) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.deliveries[d.ID-1]
	return now.State == notify.Waiting && now.ChannelID == d.ChannelID, nil
}

func (q *queue) Together(_ context.Context, with *notify.Delivery, limit int) ([]*notify.Delivery, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []*notify.Delivery
	for _, d := range q.deliveries {
		same := d.Batch == with.Batch && (d.Batch != 0 || d.HeldUntil.Equal(with.HeldUntil) && slices.Equal(d.Rules, with.Rules) && d.Format == with.Format)
		if d.ChannelID == with.ChannelID && d.State == notify.Waiting && d.DueAt.IsZero() && same && len(out) < limit {
			c := *d
			out = append(out, &c)
		}
	}
	return out, nil
}

func (q *queue) Aside(_ context.Context, channel int64) ([]*notify.Delivery, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []*notify.Delivery
	for _, d := range q.deliveries {
		if d.ChannelID == channel && d.State == notify.Waiting && !d.DueAt.IsZero() {
			c := *d
			c.Generation = q.rules.Generation
			out = append(out, &c)
		}
	}
	slices.SortFunc(out, func(a, b *notify.Delivery) int { return a.DueAt.Compare(b.DueAt) })
	return out, nil
}

func (q *queue) CountWaiting(_ context.Context, channel int64, max int) (n int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range q.deliveries {
		if d.ChannelID == channel && d.State == notify.Waiting && !d.HeldUntil.After(time.Now()) {
			n++
		}
	}
	return min(n, max), nil
}

func (q *queue) BindDigest(_ context.Context, _ string, _ int64, deliveries []*notify.Delivery) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range deliveries {
		if q.deliveries[d.ID-1].State != notify.Waiting {
			return fault.New(fault.Conflict, "The messages waiting for the channel have changed.")
		}
		q.deliveries[d.ID-1].Batch = deliveries[0].ID
	}
	return nil
}

func (q *queue) Backlog(context.Context, []int) (b notify.Backlog, err error) { return b, nil }

func (q *queue) Expire(context.Context, []int, notify.Limits) (int, error) { return 0, nil }

func (q *queue) ReleaseUndecided(_ context.Context, shards []int, age time.Duration) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.released = fmt.Sprint(shards, age)
	return 0, nil
}

// endElsewhere is what another node's administrator does with deliveries.
func (q *queue) endElsewhere(ids ...int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range ids {
		q.deliveries[id-1].State = notify.Cancelled
	}
}

// dueElsewhere is another node's administrator who has one that was set aside tried.
func (q *queue) dueElsewhere(id int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deliveries[id-1].DueAt = time.Now()
}

// decide is what the decider does with the delivery.
func (q *queue) decide(id int64, taken bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.deliveries[id-1]; taken {
		d.State = notify.Waiting
	} else {
		d.State = "removed"
	}
}

func (q *queue) Channel(_ context.Context, id int64) (notify.Channel, secret.Value, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if url, ok := q.urls[id]; ok {
		return *q.channels[id], secret.New(url), nil
	}
	return *q.channels[id], secret.New(fmt.Sprintf("http://c%d", id/notify.Shards)), nil
}

func (q *queue) SaveResult(_ context.Context, r *notify.Result) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.refuse > 0 {
		q.refuse--
		return fault.New(fault.Unavailable, "The disk is full.")
	}
	if q.conflict {
		return fault.New(fault.Conflict, "Another node has taken over.")
	}
	for _, d := range q.deliveries {
		if r.Back != 0 && d.ID == r.Back {
			d.DueAt, d.Beside, d.Errors5xx = time.Time{}, 0, 0
		}
		for _, of := range r.Deliveries {
			if d.ID == of.ID {
				q.result(d, r)
			}
		}
	}
	if r.Channel != nil {
		c := *r.Channel
		q.channels[c.ID] = &c
	}
	return nil
}

// result is what a result makes of a delivery.
func (q *queue) result(d *notify.Delivery, r *notify.Result) {
	d.State, d.Reason = r.State, r.Reason
	if r.Attempt != nil {
		q.answer, q.exchanges = r.Attempt.Answer, append(q.exchanges, r.Exchange)
		d.Attempts++
	}
	if r.Counts {
		d.Errors5xx++
	}
	switch {
	case r.Aside:
		d.DueAt = r.DueAt
		d.Beside++
	case r.State != notify.Waiting:
		d.DueAt = time.Time{}
	}
}

func (q *queue) Pending(context.Context, []int) ([]notify.Pending, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var found []notify.Pending
	for _, d := range q.deliveries {
		p := notify.Pending{ChannelID: d.ChannelID, GateUntil: q.channels[d.ChannelID].GateUntil, Queued: true, Released: !d.HeldUntil.IsZero()}
		if (d.State == notify.Waiting || d.State == notify.Deciding) && !d.DueAt.After(time.Now()) && !d.HeldUntil.After(time.Now()) && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found, nil
}

func (q *queue) Load(context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.latest != nil {
		q.rules = q.latest
	}
	return nil
}

func (q *queue) Rules() *notify.RuleSet {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.rules
}

func (q *queue) state(id int64) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.deliveries[id-1]
	return string(d.State)
}
