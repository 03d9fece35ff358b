package db

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// AcquireSome takes up to limit of the leases in names that are free,
// each with a new fence, all in one transaction: a node that starts has its
// part of the cluster's work in one go. What others hold is left out without
// an error.
func (l *Leases) AcquireSome(ctx context.Context, names []string, limit int) ([]*Lease, error) {
	var asked []string
	defer func() {
		for _, name := range asked {
			l.asked(name)
		}
	}()
	for _, name := range names {
		ok, err := l.ask(name)
		if err != nil {
			return nil, err
		}
		if ok {
			asked = append(asked, name)
		}
	}
	sent := time.Now()
	fences, err := l.takeSome(ctx, asked, limit)
	if err != nil {
		return nil, fmt.Errorf("acquiring leases: %w", err)
	}
	var taken []*Lease
	for name, fence := range fences {
		lease := newLease(name, fence, sent.Add(l.Time), l.db.metrics.lost)
		if !l.hold(lease) { // Stop came first; so it is with all of them
			if err := l.Release(ctx, lease); err != nil {
				return nil, err
			}
			continue
		}
		taken = append(taken, lease)
	}
	return taken, nil
}

// takeSome is take for several names: their new fences.
func (l *Leases) takeSome(ctx context.Context, names []string, limit int) (map[string]int64, error) {
	free, err := l.unheld(ctx, names)
	if err != nil || len(free) == 0 || limit <= 0 {
		return nil, err
	}
	slices.Sort(free) // rows are locked in one order, so that two nodes do not wait for each other
	var fences map[string]int64
	err = l.db.Write(ctx, func(tx *Tx) error {
		fences = make(map[string]int64)
		for _, name := range free {
			if len(fences) == limit {
				return nil
			}
			fence, err := l.claim(ctx, tx, name)
			if err != nil {
				return err
			}
			if fence != 0 {
				fences[name] = fence
			}
		}
		return nil
	})
	return fences, err
}

// unheld returns those of names that no other node holds now. It reads the rows
// between the first and the last name, which for names of one kind are these.
func (l *Leases) unheld(ctx context.Context, names []string) (free []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	held := make(map[string]bool)
	err = l.db.Read(ctx, func(tx *Tx) error {
		return tx.EachRow(ctx, "reading leases", func(row Row) error {
			var name, owner string
			var expires int64
			err := row.Scan(&name, &owner, &expires)
			held[name] = owner != l.owner && expires > Micros(tx.Now())
			return err
		}, `SELECT name, owner, expires_at FROM leases WHERE name >= $1 AND name <= $2`, slices.Min(names), slices.Max(names))
	})
	for _, name := range names {
		if !held[name] {
			free = append(free, name)
		}
	}
	return free, err
}
