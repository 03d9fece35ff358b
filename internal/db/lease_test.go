package db_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

// shortLeases are started, with times that a test can wait for.
func shortLeases(t *testing.T, d *db.DB, owner string, lasting, every time.Duration) *db.Leases {
	t.Helper()
	l := db.NewLeases(d, owner, nil)
	l.Time, l.Every = lasting, every
	must(t, l.Start(t.Context()))
	t.Cleanup(l.Stop)
	return l
}

// acquire takes a lease that must be free.
func acquire(t *testing.T, l *db.Leases, name string) *db.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), name)
	must(t, err)
	if lease == nil {
		t.Fatalf("%s is held", name)
	}
	return lease
}

// wantHeld fails t if l can take the lease.
func wantHeld(t *testing.T, l *db.Leases, name string) {
	t.Helper()
	lease, err := l.Acquire(t.Context(), name)
	if lease != nil || err != nil {
		t.Errorf("%s was free: %v, %v", name, lease, err)
	}
}

// fenced writes behind the lease.
func fenced(t *testing.T, d *db.DB, lease *db.Lease) error {
	return d.Write(t.Context(), func(tx *db.Tx) error { return tx.Fenced(t.Context(), lease.Name(), lease.Fence()) })
}

// One lease that is lost refuses what several fence; those between them do not
// matter.
func TestSeveralLeasesFenceTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		a, c := acquire(t, one, "a"), acquire(t, one, "c")
		acquire(t, two, "b")
		all := func(fences map[string]int64) error {
			return d.Write(t.Context(), func(tx *db.Tx) error { return tx.FencedAll(t.Context(), fences) })
		}
		must(t, all(nil))
		must(t, all(map[string]int64{"a": a.Fence(), "c": c.Fence()}))
		if err := all(map[string]int64{"a": a.Fence(), "d": 1}); !fault.Is(err, fault.Conflict) {
			t.Errorf("a lease that nobody ever had: %v", err)
		}
		must(t, one.Release(t.Context(), c))
		acquire(t, two, "c")
		if err := all(map[string]int64{"a": a.Fence(), "c": c.Fence()}); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "taken over c") {
			t.Errorf("one of two leases was lost: %v", err)
		}
	})
}

func ended(lease *db.Lease) bool {
	select {
	case <-lease.Lost():
		return true
	default:
		return false
	}
}

func TestOneHolder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		mine := acquire(t, one, "x")
		wantHeld(t, two, "x")
		wantHeld(t, one, "x")
		if !mine.Good(db.LeaseTime/2) || mine.Good(db.LeaseTime) || ended(mine) || mine.Name() != "x" {
			t.Errorf("the lease is good for 10 s %v, for 20 s %v, over %v", mine.Good(db.LeaseTime/2), mine.Good(db.LeaseTime), ended(mine))
		}
		must(t, fenced(t, d, mine))

		must(t, one.Release(t.Context(), mine))
		if mine.Good(0) || !ended(mine) {
			t.Error("a lease that was released goes on")
		}
		theirs := acquire(t, two, "x")
		if theirs.Fence() <= mine.Fence() {
			t.Errorf("the fence went from %d to %d", mine.Fence(), theirs.Fence())
		}
		wantCode(t, fenced(t, d, mine), fault.Conflict, "x")
		must(t, fenced(t, d, theirs))
		must(t, one.Release(t.Context(), mine)) // again, which takes nothing from the new holder
		must(t, fenced(t, d, theirs))
		wantHeld(t, one, "x")
		acquire(t, one, "y")

		never := &db.Lease{}
		wantCode(t, fenced(t, d, never), fault.Conflict, "")
	})
}

func TestAnOrderlyStopGivesUpLeases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		x, y := acquire(t, one, "x"), acquire(t, one, "y")
		one.Stop()
		one.Stop()
		if !ended(x) || !ended(y) {
			t.Error("the holder was not told")
		}
		acquire(t, two, "x")
		acquire(t, two, "y")
		_, err := one.Acquire(t.Context(), "z")
		wantCode(t, err, fault.Unavailable, "")
	})
}

// A killed process comes back under the same node lock, before its leases
// lapsed.
func TestARestartTakesOverItsPredecessorsLeases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		before := dbtest.Leases(t, d, "node_1")
		old := acquire(t, before, "x")
		after, other := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		// What the predecessor still had under way is refused from the start.
		wantCode(t, fenced(t, d, old), fault.Conflict, "x")
		mine := acquire(t, after, "x")
		if mine.Fence() <= old.Fence() {
			t.Errorf("the fence went from %d to %d", old.Fence(), mine.Fence())
		}
		wantHeld(t, other, "x")
	})
}

// The holder that does not renew is dead. It must know before another begins.
func TestADeadHoldersLeaseLapses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		dead := shortLeases(t, d, "node_1", 300*time.Millisecond, time.Hour)
		alive := dbtest.Leases(t, d, "node_2")
		old := acquire(t, dead, "x")
		var taken *db.Lease
		for taken == nil {
			var err error
			taken, err = alive.Acquire(t.Context(), "x")
			must(t, err)
			if taken != nil && old.Good(0) {
				t.Error("two hold the lease")
			}
		}
		<-old.Lost()
		wantCode(t, fenced(t, d, old), fault.Conflict, "x")
		must(t, fenced(t, d, taken))
	})
}

func TestLeasesAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dbtest.SQLite(t)
		must(t, d.Migrate(t.Context()))
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		x, y := acquire(t, one, "x"), acquire(t, one, "y")
		<-time.After(10 * db.LeaseTime)
		if ended(x) || ended(y) {
			t.Errorf("x is over %v, y is over %v", ended(x), ended(y))
		}
		wantHeld(t, two, "x")
		must(t, fenced(t, d, x))
	})
}

// By the database's clock too.
func TestRowsOfLeasesAreRenewed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		acquire(t, shortLeases(t, d, "node_1", time.Hour, time.Millisecond), "x")
		expires := func() (at int64) {
			must(t, d.Read(t.Context(), func(tx *db.Tx) error {
				return tx.QueryRow(t.Context(), `SELECT expires_at FROM leases WHERE name = 'x'`).Scan(&at)
			}))
			return at
		}
		for began, first := time.Now(), expires(); expires() <= first; {
			if time.Since(began) > patience {
				t.Fatal("the row is not renewed")
			}
		}
	})
}

// The row became another's: by an administrator's hand, or because the
// database's clock jumped.
func TestARenewalSeesThatALeaseIsLost(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		x, y := acquire(t, one, "x"), acquire(t, one, "y")
		lapse(t, d, "x")
		acquire(t, two, "x")
		must(t, one.RenewOnce(t.Context()))
		if !ended(x) || ended(y) || !y.Good(db.LeaseTime/2) {
			t.Errorf("x is over %v, y is over %v", ended(x), ended(y))
		}
		wantHeld(t, one, "x")
	})
}

// lapse ends a lease by the database's clock.
func lapse(t testing.TB, d *db.DB, name string) {
	must(t, d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE leases SET expires_at = 1 WHERE name = $1`, name)
		return err
	}))
}

// An Acquire whose commit went through though its answer got lost leaves a row
// without a holder. The next renewal frees it.
func TestAnOrphanIsFreed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		x, y := acquire(t, one, "x"), acquire(t, two, "y")
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE leases SET owner = 'node_1' WHERE name = 'y'`)
			return err
		}))
		must(t, one.RenewOnce(t.Context()))
		must(t, two.RenewOnce(t.Context()))
		if ended(x) || !ended(y) {
			t.Errorf("x is over %v, y is over %v", ended(x), ended(y))
		}
		acquire(t, two, "y")
	})
}

// Nothing that a holder writes is lost between two holders: the one that takes the
// lease waits for what is being written behind it, and sees it.
func TestTakingALeaseWaitsForWhatIsFenced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		mine := acquire(t, one, "x")
		locked, end := make(chan struct{}), make(chan struct{})
		var once sync.Once
		var all sync.WaitGroup
		all.Go(func() {
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				if err := tx.Fenced(t.Context(), "x", mine.Fence()); err != nil {
					return err
				}
				once.Do(func() { close(locked) })
				<-end
				return insert(t.Context(), tx, "mine")
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-locked
		if d.Dialect() == db.Postgres {
			// On SQLite there is one writer and nothing to see.
			must(t, one.RenewOnce(t.Context())) // a renewal need not wait
			must(t, d.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE leases SET expires_at = 1`)
				return err
			}))
		}
		taken := make(chan []string)
		all.Go(func() {
			if d.Dialect() == db.SQLite {
				<-end
				lapse(t, d, "x")
			}
			acquire(t, two, "x")
			taken <- names(t, d)
		})
		if d.Dialect() == db.Postgres {
			select {
			case <-taken:
				t.Error("the lease was taken while its holder was writing")
			case <-time.After(100 * time.Millisecond):
			}
		}
		close(end)
		if got := <-taken; len(got) != 1 {
			t.Errorf("the new holder sees %q", got)
		}
		all.Wait()
	}, things)
}

func TestTwoNodesRunForOneLease(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		var mu sync.Mutex
		var all sync.WaitGroup
		fences := map[int64]bool{}
		for _, l := range []*db.Leases{one, two, one, two} {
			all.Go(func() {
				for range 20 {
					lease, err := l.Acquire(t.Context(), "x")
					if err != nil {
						t.Error(err)
						return
					}
					if lease == nil {
						continue
					}
					mu.Lock()
					if fences[lease.Fence()] {
						t.Errorf("the fence %d was given twice", lease.Fence())
					}
					fences[lease.Fence()] = true
					mu.Unlock()
					if err := fenced(t, d, lease); err != nil {
						t.Error(err)
					}
					if err := l.Release(t.Context(), lease); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if len(fences) == 0 {
			t.Error("nobody got it")
		}
	})
}
