package reports

import (
	"context"
	"sync"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// round runs the reports that are due, under one lease.
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

// ask asks the platform what a report is to say, unless it has kept the round waiting for
// too long already: then it returns the error of that.
func (rd *round) ask(ctx context.Context, r *notify.Report) (*notify.Event, error) {
	if w := rd.waitedFor(r.Connection); w.time >= patience {
		return nil, w.err
	}
	ctx, cancel := context.WithTimeout(notify.OnBehalf(ctx, r.UpdatedByID), askTime)
	defer cancel()
	begun := time.Now()
	e, err := rd.Compose(ctx, r)
	if err != nil {
		rd.mu.Lock()
		defer rd.mu.Unlock()
		rd.waited[r.Connection] = waiting{rd.waited[r.Connection].time + time.Since(begun), err}
	}
	return e, err
}

func (rd *round) waitedFor(connection string) waiting {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	return rd.waited[connection]
}
