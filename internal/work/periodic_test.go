package work

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r PeriodicWorker
		r.Stop() // it has not begun
		var at []time.Duration
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		r.Start(ctx, time.Minute, func(context.Context) time.Duration {
			at = append(at, time.Since(began))
			return time.Hour * time.Duration(len(at))
		})
		cancel() // it goes on after what it was started with
		<-time.After(time.Minute + 3*time.Hour)
		r.Wake()
		synctest.Wait()
		r.Stop()
		r.Stop()
		r.Wake()
		<-time.After(24 * time.Hour)
		want := []time.Duration{time.Minute, time.Minute + time.Hour, time.Minute + 3*time.Hour, time.Minute + 3*time.Hour}
		if len(at) != len(want) {
			t.Fatalf("rounds at %v, want %v", at, want)
		}
		for i := range want {
			if at[i] != want[i] {
				t.Errorf("round %d at %v, want %v", i, at[i], want[i])
			}
		}
	})
}

func TestStopCutsARoundOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r PeriodicWorker
		ended := false
		r.Start(t.Context(), 0, func(ctx context.Context) time.Duration {
			<-ctx.Done()
			ended = true
			return 0
		})
		synctest.Wait()
		r.Stop()
		if !ended {
			t.Error("Stop came back before the round had ended")
		}
	})
}

func TestAWakeBeforeTheStartCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r PeriodicWorker
		r.Wake()
		rounds := 0
		r.Start(t.Context(), time.Hour, func(context.Context) time.Duration { rounds++; return time.Hour })
		synctest.Wait()
		r.Stop()
		if rounds != 1 {
			t.Errorf("%d rounds, want 1", rounds)
		}
	})
}
