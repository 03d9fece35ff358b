package processing

import (
	"context"
	"errors"
	"time"

	"outrigger/internal/threads"
)

// leave stores what it can of what was done before an end that came between:
// it need not be done again, and what the target has should be known. When the
// lease is gone, or the database, nothing is stored.
func (d *driver) leave(ctx context.Context, why error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastKeep)
	defer cancel()
	if errors.Is(why, threads.ErrOvertaken) || errors.Is(why, context.Canceled) {
		_ = d.keepAll(ctx)
	}
}

// lastKeep bounds the last word of a worker that is to stop.
const lastKeep = 2 * time.Second

// prefix is how many tasks at the beginning are done for good.
func (d *driver) prefix() int {
	for i, t := range d.window {
		if t.state != done || t.held {
			return i
		}
	}
	return len(d.window)
}

// isTime reports whether what is done should be stored.
func (d *driver) isTime() bool {
	n := d.prefix()
	return n >= keepMost || n > 0 && d.p.Clock().Sub(d.kept) >= keepEvery
}

// keep stores what is done, the pace, and what failed.
func (d *driver) keep(ctx context.Context) error { return d.keepWith(ctx, nil) }

// keepAll is keep before an end: what went well ahead of something that did not
// is in the target too.
func (d *driver) keepAll(ctx context.Context) error {
	var ahead []threads.IssueMap
	for _, t := range d.window[d.prefix():] {
		if t.state == done && !t.failed && t.ask != nil {
			ahead = append(ahead, threads.IssueMap{CloudIssueID: t.issue, Parents: t.parents})
		}
	}
	return d.keepWith(ctx, ahead)
}

func (d *driver) keepWith(ctx context.Context, ahead []threads.IssueMap) error {
	n := d.prefix()
	err := d.p.retry(ctx, "store what was done", func(ctx context.Context) error {
		return d.feed.keep(ctx, d.window[:n], ahead, d.retried, d.pace)
	})
	if err != nil {
		return err
	}
	d.window = append([]*task(nil), d.window[n:]...)
	d.retried, d.kept = 0, d.p.Clock()
	d.p.beat()
	return nil
}
