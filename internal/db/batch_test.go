package db_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// thing is what the batches of the tests store.
type thing struct {
	name string
	id   int64
}

func storeThings(ctx context.Context, tx *db.Tx, items []*thing) error {
	args := make([][]any, len(items))
	for i, item := range items {
		args[i] = []any{item.name}
	}
	return tx.Each(ctx, "inserting", `INSERT INTO things (name) VALUES ($1) RETURNING id`, args,
		func(i int, row db.Row) error { return row.Scan(&items[i].id) })
}

func TestBatch(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		var mu sync.Mutex
		largest, afters := 0, 0
		batch := db.NewBatch(d, "things", 10, func(ctx context.Context, tx *db.Tx, items []*thing) error {
			mu.Lock()
			largest = max(largest, len(items))
			mu.Unlock()
			tx.AfterCommit(func() {
				mu.Lock()
				defer mu.Unlock()
				afters += len(items)
			})
			return storeThings(ctx, tx, items)
		})
		var all sync.WaitGroup
		want := []string{}
		ids := map[int64]bool{}
		for i := range 100 {
			item := &thing{name: fmt.Sprintf("t%02d", i)}
			want = append(want, item.name)
			all.Go(func() {
				if err := batch.Do(t.Context(), item); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				ids[item.id] = true
			})
		}
		all.Wait()
		wantNames(t, d, want...)
		if len(ids) != 100 || largest < 2 || largest > 10 || afters != 100 {
			t.Errorf("%d ids, %d in the largest batch, %d called after commits", len(ids), largest, afters)
		}
	})
}

// What batches have called after their commits is called in the order of the
// commits, however the callers' goroutines are woken.
func TestBatchesFollowEachOther(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		var committed []int64
		batch := db.NewBatch(d, "things", 3, func(ctx context.Context, tx *db.Tx, items []*thing) error {
			tx.AfterCommit(func() {
				for _, item := range items {
					committed = append(committed, item.id)
				}
			})
			return storeThings(ctx, tx, items)
		})
		var waits []func() error
		for i := range 60 {
			waits = append(waits, batch.Begin(&thing{name: fmt.Sprintf("t%02d", i)}))
		}
		for _, wait := range waits {
			if err := errors.Join(wait(), wait()); err != nil {
				t.Error(err)
			}
		}
		if len(committed) != 60 || !slices.IsSorted(committed) {
			t.Errorf("called in the order %v", committed)
		}
	})
}

// gathered is a batch with items waiting: the first one holds up the others
// until release is called.
func gathered(t *testing.T, batch *db.Batch[*thing], running <-chan struct{}, release func(), items ...*thing) []error {
	t.Helper()
	errs := make([]error, len(items))
	var all sync.WaitGroup
	all.Go(func() {
		if err := batch.Do(t.Context(), &thing{name: "first"}); err != nil {
			t.Error(err)
		}
	})
	<-running
	for i, item := range items {
		all.Go(func() { errs[i] = batch.Do(t.Context(), item) })
	}
	for batch.Waiting() < len(items) {
		runtime.Gosched() // they are on their way
	}
	release()
	all.Wait()
	return errs
}

func TestAFailedBatchIsRetriedItemByItem(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		running, hold := make(chan struct{}), make(chan struct{})
		var once sync.Once
		batch := db.NewBatch(d, "things", 256, func(ctx context.Context, tx *db.Tx, items []*thing) error {
			once.Do(func() { close(running) })
			<-hold
			for _, item := range items {
				switch item.name {
				case "refused":
					return fault.New(fault.Invalid, "This one is refused.")
				case "panic":
					panic("a bug")
				}
			}
			return storeThings(ctx, tx, items)
		})
		errs := gathered(t, batch, running, func() { close(hold) },
			&thing{name: "a"}, &thing{name: "refused"}, &thing{name: "b"}, &thing{name: "panic"}, &thing{name: "first"}, &thing{name: "c"})
		for i, want := range []fault.Code{"", fault.Invalid, "", fault.Internal, fault.Internal, ""} {
			if got := fault.CodeOf(errs[i]); got != want {
				t.Errorf("item %d: %v (%s), not %q", i, errs[i], got, want)
			}
		}
		if !db.IsUnique(errs[4]) {
			t.Errorf("the second first: %v", errs[4])
		}
		wantNames(t, d, "a", "b", "c", "first")
	})
}

func TestAnItemThatLeavesItsBatch(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		running, hold := make(chan struct{}), make(chan struct{})
		var once sync.Once
		batch := db.NewBatch(d, "things", 256, func(ctx context.Context, tx *db.Tx, items []*thing) error {
			once.Do(func() { close(running) })
			<-hold
			return storeThings(ctx, tx, items)
		})
		ctx, cancel := context.WithCancel(t.Context())
		release := func() {
			left := make(chan error)
			go func() { left <- batch.Do(ctx, &thing{name: "left"}) }()
			for batch.Waiting() < 2 {
				runtime.Gosched() // it is on its way
			}
			cancel()
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("whoever left got %v", err)
			}
			if err := batch.Do(ctx, &thing{name: "late"}); !errors.Is(err, context.Canceled) {
				t.Errorf("whoever came with a context that had ended got %v", err)
			}
			close(hold)
		}
		if errs := gathered(t, batch, running, release, &thing{name: "stayed"}); errs[0] != nil {
			t.Error(errs[0])
		}
		wantNames(t, d, "first", "stayed")
	})
}
