package hook

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/work"
)

const (
	// refusalsEvery is how often refused webhooks are written down: a flood of
	// them costs one small write in that time, whatever its rate.
	refusalsEvery = 2 * time.Second
	// refusalsLast is how long the last ones are written at a stop.
	refusalsLast = time.Second
	// maxRefusalMessage is how much is kept of what a refused webhook was
	// answered: it names keys that came from outside.
	maxRefusalMessage = 300
)

// Refusals counts refused webhooks of known connections. What a crash loses of
// the counts is what came in the last two seconds.
type Refusals struct {
	store *store.Store
	log   *slog.Logger

	mu     sync.Mutex
	counts map[notify.RefusalKey]*notify.RefusedWebhooks

	work.PeriodicWorker
}

// NewRefusals makes the counts; nothing is written before Start.
func NewRefusals(s *store.Store, log *slog.Logger) *Refusals {
	return &Refusals{store: s, log: log, counts: make(map[notify.RefusalKey]*notify.RefusedWebhooks)}
}

// Start begins to write.
func (f *Refusals) Start(ctx context.Context) {
	failing := false
	f.PeriodicWorker.Start(ctx, refusalsEvery, func(ctx context.Context) time.Duration {
		err := f.runOnce(ctx)
		if err != nil && !failing {
			f.log.Warn("refused webhooks could not be counted; will try again", "error", err)
		}
		failing = err != nil
		return refusalsEvery
	})
}

// Stop writes what is left.
func (f *Refusals) Stop() {
	f.PeriodicWorker.Stop()
	if err := f.runOnce(context.Background()); err != nil {
		f.log.Warn("the last refused webhooks could not be counted", "error", err)
	}
}

// runOnce writes the counts; where that fails they are kept.
func (f *Refusals) runOnce(ctx context.Context) error {
	list := f.take()
	if len(list) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refusalsLast)
	defer cancel()
	err := f.store.AddRefused(ctx, list)
	if err != nil {
		for i := range list {
			f.add(list[i])
		}
	}
	return err
}

// take empties the counts, in an order that is the same on every node: two that
// write the same rows then do not wait for each other.
func (f *Refusals) take() []notify.RefusedWebhooks {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]notify.RefusedWebhooks, 0, len(f.counts))
	for _, r := range f.counts {
		list = append(list, *r)
	}
	clear(f.counts)
	slices.SortFunc(list, func(a, b notify.RefusedWebhooks) int {
		return cmp.Or(cmp.Compare(a.Connection, b.Connection), cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// add counts r; the later one says what is known of the last.
func (f *Refusals) add(r notify.RefusedWebhooks) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if have := f.counts[r.RefusalKey]; have != nil {
		r.Count += have.Count
		if have.FirstAt.Before(r.FirstAt) {
			r.FirstAt = have.FirstAt
		}
		if have.LastAt.After(r.LastAt) {
			r.LastAt, r.LastBy, r.Message = have.LastAt, have.LastBy, have.Message
		}
	}
	f.counts[r.RefusalKey] = &r
}

// count notes a webhook that was refused with err.
func (f *Refusals) count(key notify.RefusalKey, at time.Time, by string, err error) {
	message, _ := notify.Cut(fault.As(err).Message, maxRefusalMessage)
	f.add(notify.RefusedWebhooks{RefusalKey: key, Count: 1, FirstAt: at, LastAt: at, LastBy: by, Message: message})
}
