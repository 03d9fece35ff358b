package db

import (
	"context"
	"fmt"
	"time"
)

// renewAll renews what is held until ctx ends.
func (l *Leases) renewAll(ctx context.Context) {
	defer close(l.through)
	failing := false
	for {
		wait := l.Every
		if failing {
			wait /= 5 // a database that is back is found soon
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		err := l.renewOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			l.log.Warn("leases could not be renewed", "owner", l.owner, "error", err)
		case err == nil && failing:
			l.log.Info("leases are renewed again", "owner", l.owner)
		}
		failing = err != nil
	}
}

// renewOnce renews every row of this owner in one statement.
func (l *Leases) renewOnce(ctx context.Context) error {
	l.mu.Lock()
	before := make(map[string]*Lease, len(l.held))
	for name, lease := range l.held {
		before[name] = lease
	}
	l.mu.Unlock()
	if len(before) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	sent := time.Now()
	rows, err := l.extend(ctx)
	if err != nil {
		return err
	}
	until := sent.Add(l.Time)
	for name, lease := range before {
		if rows[name] == lease.fence && lease.extend(until) {
			delete(rows, name)
			continue
		}
		l.forget(lease)
	}
	return l.orphans(ctx, rows)
}

// extend renews the rows and gives the fence of each by name.
func (l *Leases) extend(ctx context.Context) (rows map[string]int64, err error) {
	err = l.db.Write(ctx, func(tx *Tx) error {
		rows = map[string]int64{}
		res, err := tx.Query(ctx, `UPDATE leases SET expires_at = $2 WHERE owner = $1 RETURNING name, fence`,
			l.owner, Micros(tx.Now().Add(l.Time)))
		if err != nil {
			return err
		}
		defer res.Close()
		for res.Next() {
			var name string
			var fence int64
			if err := res.Scan(&name, &fence); err != nil {
				return err
			}
			rows[name] = fence
		}
		return res.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("renewing the leases of %s: %w", l.owner, err)
	}
	return rows, nil
}

// forget drops a lease that is lost.
func (l *Leases) forget(lease *Lease) {
	l.mu.Lock()
	if l.held[lease.name] == lease {
		delete(l.held, lease.name)
	}
	l.mu.Unlock()
	lease.mu.Lock()
	defer lease.mu.Unlock()
	lease.taken()
}

// orphans frees the rows that were renewed though no caller holds them: those of
// an Acquire whose outcome got lost, and those that lapsed here and not there.
func (l *Leases) orphans(ctx context.Context, rows map[string]int64) error {
	for name, fence := range rows {
		l.mu.Lock()
		lease := l.held[name]
		used := l.asking[name] || lease != nil && lease.fence == fence
		l.mu.Unlock()
		if used {
			continue
		}
		if err := l.drop(ctx, name, fence); err != nil {
			return err
		}
	}
	return nil
}
