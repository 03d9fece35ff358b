package reports

import (
	"context"
	"sync"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// round is one look at all that is due, under one lease.
type round struct {
	*Runner
	lease *db.Lease

	mu     sync.Mutex
	waited map[string]waiting // by connection
}

// waiting is how long a platform kept the round waiting in vain, and what came of
// it.
type waiting struct {
	time time.Duration
	err  error
}

// ask asks the platform what a report is to say, unless it has kept the round
// waiting for long enough.
func (b *round) ask(ctx context.Context, r *notify.Report) (*notify.Event, error) {
	if w := b.waitedFor(r.Connection); w.time >= patience {
		return nil, w.err
	}
	ctx, cancel := context.WithTimeout(notify.OnBehalf(ctx, r.UpdatedByID), askTime)
	defer cancel()
	begun := time.Now()
	e, err := b.Compose(ctx, r)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.waited[r.Connection] = waiting{b.waited[r.Connection].time + time.Since(begun), err}
	}
	return e, err
}

func (b *round) waitedFor(connection string) waiting {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waited[connection]
}
