package db_test

import (
	"fmt"
	"sync"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

func TestAcquireSome(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		names := make([]string, 64)
		for i := range names {
			names[i] = fmt.Sprintf("shard/%02d", i)
		}
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		if _, err := one.Acquire(t.Context(), "shard/07"); err != nil {
			t.Fatal(err)
		}

		// Both ask at once: nothing is taken twice, and the limit holds.
		var mu sync.Mutex
		var all sync.WaitGroup
		holder := map[string]int{"shard/07": 1}
		fences := map[string]int64{}
		take := func(node int, l *db.Leases, limit, atLeast int) {
			taken, err := l.AcquireSome(t.Context(), names, limit)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || len(taken) > limit || len(taken) < atLeast {
				t.Errorf("node %d got %d of %d, %v", node, len(taken), limit, err)
			}
			for _, lease := range taken {
				if other := holder[lease.Name()]; other != 0 || !lease.Good(0) {
					t.Errorf("%s went to nodes %d and %d", lease.Name(), other, node)
				}
				if lease.Fence() <= fences[lease.Name()] {
					t.Errorf("%s has the fence %d again", lease.Name(), lease.Fence())
				}
				holder[lease.Name()] = node
				fences[lease.Name()] = lease.Fence()
			}
		}
		all.Go(func() { take(1, one, 31, 0) })
		all.Go(func() { take(2, two, 31, 0) })
		all.Wait()
		for range 2 { // what one of them missed while the other was taking it
			take(1, one, 64, 0)
		}
		if len(holder) != 64 {
			t.Fatalf("%d of 64 are held", len(holder))
		}
		take(2, two, 64, 0)
		take(2, two, 0, 0)

		one.Stop()
		if _, err := one.AcquireSome(t.Context(), names, 1); err == nil {
			t.Error("leases that are stopped were asked, without an error")
		}
		for name, node := range holder {
			if node == 1 {
				delete(holder, name)
			}
		}
		free := 64 - len(holder)
		take(2, two, 64, free)
	})
}
