package retention

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const day = 24 * time.Hour

// record fills the audit trail with n entries of each age.
func record(t *testing.T, d *db.DB, n int, ages ...time.Duration) {
	t.Helper()
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		for _, age := range ages {
			for range n {
				if err := audit.Record(t.Context(), tx, audit.Entry{At: tx.Now().Add(-age)}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func left(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM audit_entries`).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestARoundDeletesWhatIsPastItsTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		record(t, d, 700, 40*day)
		record(t, d, 10, 31*day, 29*day, time.Minute)
		broken := errors.New("broken")
		rules := []Rule{
			{Name: "first", Keep: day, Delete: func(context.Context, *db.Tx, time.Time, int) (int64, error) { return 0, broken }},
			{Name: "for ever", Delete: audit.Delete},
			{Name: "audit", Keep: 30 * day, Delete: audit.Delete},
		}
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		r := New(d, rules, nil, one)
		result, err := r.runOnce(t.Context())
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "first: ") {
			t.Errorf("the broken rule gave %v", err)
		}
		if diff := cmp.Diff(Result{Deleted: map[string]int64{"audit": 710}}, result); diff != "" {
			t.Error(diff)
		}
		if n := left(t, d); n != 20 {
			t.Errorf("%d are left, want 20", n)
		}

		// One node at a time; the lease is given back after a round.
		lease, err := two.Acquire(t.Context(), leaseName)
		if err != nil || lease == nil {
			t.Fatalf("after a round the lease is not free: %v", err)
		}
		record(t, d, 1, 31*day)
		if result, err := r.runOnce(t.Context()); err != nil || !result.Elsewhere || left(t, d) != 21 {
			t.Errorf("while another node is at it: %+v, %v", result, err)
		}
	}, audit.Migrations)
}

func TestARoundEndsWithItsLeaseOrContext(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		record(t, d, 3*firstSlice, 40*day)
		leases := dbtest.Leases(t, d, "node_1")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		slices := 0
		r := New(d, []Rule{{Name: "audit", Keep: day, Delete: func(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
			slices++
			cancel()
			return audit.Delete(ctx, tx, before, limit)
		}}}, nil, leases)
		if _, err := r.runOnce(ctx); !errors.Is(err, context.Canceled) || left(t, d) != 2*firstSlice || slices != 1 {
			t.Errorf("ended after %d slices, %v", slices, err)
		}

		lease, err := leases.Acquire(t.Context(), leaseName)
		if err != nil || lease == nil {
			t.Fatal("the lease was not given back", err)
		}
		if err := leases.Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		if n, err := r.apply(t.Context(), r.rules[0], lease); n != 0 || !errors.Is(err, errLost) {
			t.Errorf("without its lease it deleted %d, %v", n, err)
		}
	}, audit.Migrations)
}

// What a round frees goes back to the file system, in slices.
func TestTheFileShrinks(t *testing.T) {
	dir := t.TempDir()
	d := dbtest.Open(t, db.Options{Dir: dir})
	if err := d.Migrate(t.Context(), audit.Migrations); err != nil {
		t.Fatal(err)
	}
	body := map[string]string{"text": strings.Repeat("x", 8<<10)}
	for range 20 {
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			for range 50 {
				if err := audit.Record(t.Context(), tx, audit.Entry{At: tx.Now().Add(-40 * day), After: body}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r := New(d, []Rule{{Name: "audit", Keep: day, Delete: audit.Delete}}, nil, dbtest.Leases(t, d, "node_1"))
	result, err := r.runOnce(t.Context())
	if err != nil || result.Deleted["audit"] != 1000 || result.Freed < 1000 {
		t.Fatalf("%+v, %v", result, err)
	}
	if again, err := r.runOnce(t.Context()); err != nil || again.Freed != 0 {
		t.Errorf("a round with nothing to delete: %+v, %v", again, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "outrigger.db"))
	if err != nil || info.Size() > 2<<20 {
		t.Errorf("of 8 MiB that were deleted the file still has %d bytes, %v", info.Size(), err)
	}
}

func TestSlicesFollowTheTime(t *testing.T) {
	for _, c := range []struct {
		limit int
		took  time.Duration
		want  int
	}{
		{256, 100 * time.Millisecond, 128}, {256, 15 * time.Millisecond, 256}, {256, time.Millisecond, 512},
		{minSlice, time.Second, minSlice}, {maxSlice, 0, maxSlice},
	} {
		if got := resize(c.limit, c.took); got != c.want {
			t.Errorf("%d rows in %v: next %d, want %d", c.limit, c.took, got, c.want)
		}
	}
}

// What is kept for less than an hour is deleted to the minute.
func TestRoundsComeAsOftenAsTheShortestNeeds(t *testing.T) {
	for keep, every := range map[time.Duration]time.Duration{day: time.Hour, time.Hour: time.Hour, 59 * time.Minute: time.Minute, time.Minute: time.Minute} {
		t.Run(keep.String(), func(t *testing.T) { roundsCome(t, keep, every) })
	}
}

func roundsCome(t *testing.T, keep, every time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		d := dbtest.SQLite(t)
		if err := d.Migrate(t.Context(), audit.Migrations); err != nil {
			t.Fatal(err)
		}
		rounds := make(chan time.Time)
		r := New(d, []Rule{{Name: "for ever"}, {Name: "days", Keep: 30 * day, Delete: audit.Delete}, {Name: "x", Keep: keep, Delete: func(context.Context, *db.Tx, time.Time, int) (int64, error) {
			rounds <- time.Now()
			return 0, nil
		}}}, nil, dbtest.Leases(t, d, "node_1"))
		begun := time.Now()
		if at := r.LastRound(); !at.IsZero() {
			t.Errorf("before the first round the last was at %v", at)
		}
		r.Start(t.Context())
		for _, after := range []time.Duration{firstAfter, firstAfter + every, firstAfter + 2*every} {
			if got := (<-rounds).Sub(begun).Round(time.Second); got != after {
				t.Errorf("a round after %v, want %v", got, after)
			}
			synctest.Wait()
			if at := r.LastRound(); time.Since(at) > time.Second {
				t.Errorf("the last round was at %v, not now", at)
			}
		}
		r.Stop()
		New(d, nil, nil, nil).Stop()
	})
}
