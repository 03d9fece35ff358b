package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"outrigger/internal/fault"
)

const (
	// LeaseTime is how long a lease lasts without renewal: what a cluster
	// waits after a node died, against how long a database may stall.
	LeaseTime = 20 * time.Second

	// RenewEvery leaves three more tries before a lease ends.
	RenewEvery = 5 * time.Second
)

// Leases are what this node holds for the whole cluster. All of them are
// renewed in one statement, until Stop gives them up.
type Leases struct {
	// Time and Every are LeaseTime and RenewEvery; tests shorten them before
	// Start.
	Time  time.Duration
	Every time.Duration

	db    *DB
	owner string
	log   *slog.Logger

	mu      sync.Mutex
	held    map[string]*Lease
	asking  map[string]bool // Acquire is under way
	started bool
	stop    context.CancelFunc
	through chan struct{}
}

// NewLeases makes the leases of one owner: the node id, which only one process
// at a time may have.
func NewLeases(d *DB, owner string, log *slog.Logger) *Leases {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Leases{
		Time: LeaseTime, Every: RenewEvery,
		db: d, owner: owner, log: log,
		held: map[string]*Lease{}, asking: map[string]bool{},
	}
}

// Start takes what a predecessor of the same owner left behind, with new
// fences, so that no other node has to wait for expiry, and starts renewing.
func (l *Leases) Start(ctx context.Context) error {
	if l.owner == "" {
		return errors.New("db: leases need an owner")
	}
	if err := l.free(ctx, `fence = fence + 1,`); err != nil {
		return fmt.Errorf("taking over this node's earlier leases: %w", err)
	}
	renewing, stop := context.WithCancel(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started, l.stop, l.through = true, stop, make(chan struct{})
	go l.renewAll(renewing)
	return nil
}

// Stop ends the renewal and gives every lease up at once, so that another node
// need not wait. Stop their users first.
func (l *Leases) Stop() {
	l.mu.Lock()
	if !l.started {
		l.mu.Unlock()
		return
	}
	l.started = false
	l.mu.Unlock()
	l.stop()
	<-l.through
	l.mu.Lock()
	for _, lease := range l.held {
		lease.lose()
	}
	clear(l.held)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), l.Every)
	defer cancel()
	if err := l.free(ctx, ``); err != nil {
		l.log.Warn("leases were not given up and will lapse", "owner", l.owner, "error", err)
	}
}

// free gives up every row of this owner.
func (l *Leases) free(ctx context.Context, set string) error {
	return l.db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE leases SET `+set+` owner = '', expires_at = $2 WHERE owner = $1`, l.owner, Micros(tx.Now()))
		return err
	})
}

// Acquire takes the lease name if it is free, with a new fence. It returns
// nil, nil if it is held, even by another part of this program.
func (l *Leases) Acquire(ctx context.Context, name string) (*Lease, error) {
	if ok, err := l.ask(name); !ok {
		return nil, err
	}
	defer l.asked(name)
	sent := time.Now()
	fence, err := l.take(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("acquiring the lease %s: %w", name, err)
	}
	if fence == 0 {
		return nil, nil
	}
	lease := newLease(name, fence, sent.Add(l.Time), l.db.metrics.lost)
	if !l.hold(lease) {
		return nil, l.Release(ctx, lease)
	}
	return lease, nil
}

// hold notes the lease; false when Stop came first.
func (l *Leases) hold(lease *Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started {
		l.held[lease.name] = lease
	}
	return l.started
}

// ask notes that name is being acquired; false when it is, or is held.
func (l *Leases) ask(name string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.started {
		return false, fault.New(fault.Unavailable, "This node holds no leases now.")
	}
	if lease := l.held[name]; l.asking[name] || lease != nil && lease.Good(0) {
		return false, nil
	}
	delete(l.held, name) // lapsed
	l.asking[name] = true
	return true, nil
}

func (l *Leases) asked(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.asking, name)
}

// take changes the row if it is free, and gives its new fence, else 0. A row
// of this owner is free too: it is left from a call whose outcome got lost.
func (l *Leases) take(ctx context.Context, name string) (fence int64, err error) {
	// Most calls find the lease held; they need no lock and no commit.
	free := true
	err = l.db.Read(ctx, func(tx *Tx) error {
		_, free, err = l.look(ctx, tx, name, ``)
		return err
	})
	if err != nil || !free {
		return 0, err
	}
	err = l.db.Write(ctx, func(tx *Tx) error {
		fence, err = l.claim(ctx, tx, name)
		return err
	})
	return fence, err
}

// claim is take inside a transaction.
func (l *Leases) claim(ctx context.Context, tx *Tx, name string) (int64, error) {
	last, free, err := l.look(ctx, tx, name, tx.ForUpdate()) // against Fenced's FOR KEY SHARE
	if err != nil || !free {
		return 0, err
	}
	// A row that has come since the look is another's.
	changed, err := tx.Exec(ctx, `INSERT INTO leases (name, owner, fence, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = excluded.fence, expires_at = excluded.expires_at
		WHERE leases.fence = excluded.fence - 1`,
		name, l.owner, last+1, Micros(tx.Now().Add(l.Time)))
	if changed == 0 {
		return 0, err
	}
	return last + 1, err
}

// look reads the row's fence and whether it is free.
func (l *Leases) look(ctx context.Context, tx *Tx, name, lock string) (fence int64, free bool, err error) {
	var owner string
	var expires int64
	err = tx.QueryRow(ctx, `SELECT owner, fence, expires_at FROM leases WHERE name = $1`+lock, name).Scan(&owner, &fence, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, true, nil
	}
	return fence, owner == l.owner || expires <= Micros(tx.Now()), err
}

// Release returns a lease up before its time. One that is lost already is fine.
func (l *Leases) Release(ctx context.Context, lease *Lease) error {
	l.mu.Lock()
	if l.held[lease.name] == lease {
		delete(l.held, lease.name)
	}
	l.mu.Unlock()
	lease.lose()
	return l.drop(ctx, lease.name, lease.fence)
}

// drop frees a row if it is still this owner's with that fence.
func (l *Leases) drop(ctx context.Context, name string, fence int64) error {
	err := l.db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE leases SET owner = '', expires_at = $4 WHERE name = $1 AND owner = $2 AND fence = $3`,
			name, l.owner, fence, Micros(tx.Now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("releasing the lease %s: %w", name, err)
	}
	return nil
}
