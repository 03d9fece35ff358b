package outbox

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/notify"
)

// asked notes of which shards it is asked what waits.
type asked struct {
	*queue
	shards [][]int
}

func (a *asked) Pending(ctx context.Context, shards []int) ([]notify.Pending, error) {
	a.shards = append(a.shards, shards)
	return a.queue.Pending(ctx, shards)
}

// A read for each shard would take as many connections as there are, all at once.
func TestShardsGainedTogetherAreReadTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := &asked{queue: newQueue()}
		b := New(Options{Queue: queue, Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		for n := range notify.Shards {
			ended.Go(func() { b.runShard(ctx, n, &lease{}) })
		}
		synctest.Wait()
		ended.Go(func() { b.poll(ctx) })
		synctest.Wait()
		if len(queue.shards) != 1 {
			t.Fatalf("%d reads for what waits in %d shards", len(queue.shards), notify.Shards)
		}
		slices.Sort(queue.shards[0])
		if got := queue.shards[0]; len(got) != notify.Shards || len(slices.Compact(got)) != notify.Shards {
			t.Errorf("read were the shards %v", got)
		}
		stop()
		ended.Wait()
	})
}
