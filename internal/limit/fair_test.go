package limit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var errTestBusy = errors.New("busy")

func errBusy() error { return errTestBusy }

// TestTurnsGoByAddress: of 60 that wait at one address and one each at two
// others, the others are second and third.
func TestTurnsGoByAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewFair[string](1, time.Minute, errBusy)
		first, err := turns.Acquire(t.Context(), "flood")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		wait := func(address string) {
			go func() {
				done, err := turns.Acquire(t.Context(), address)
				if err != nil {
					t.Error(err)
					return
				}
				got = append(got, address)
				done()
			}()
			synctest.Wait()
		}
		for range 60 {
			wait("flood")
		}
		wait("a")
		wait("b")
		first()
		synctest.Wait()
		if len(got) != 62 {
			t.Fatalf("%d turns", len(got))
		}
		if diff := cmp.Diff([]string{"flood", "a", "b", "flood"}, got[:4]); diff != "" {
			t.Error(diff)
		}
	})
}

// TestTurnsAreNotLost: those that stop waiting, also in the moment in which
// their turn comes, take none away, and too many are refused at once.
func TestTurnsAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewFair[string](2, time.Minute, errBusy)
		var free []func()
		for range 2 {
			done, err := turns.Acquire(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			free = append(free, done)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for i := range maxWaiting {
			go func() {
				if done, err := turns.Acquire(ctx, []string{"a", "b"}[i%2]); err == nil {
					done()
				}
			}()
		}
		synctest.Wait()
		cancel()
		for _, done := range free {
			done()
		}
		synctest.Wait()
		if turns.free != 2 || len(turns.waiting) != 0 || len(turns.order) != 0 {
			t.Errorf("afterwards %d are free, %d wait, order %v", turns.free, len(turns.waiting), turns.order)
		}
	})
}

func TestTooManyWaitAtOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewFair[string](1, time.Minute, errBusy)
		done, err := turns.Acquire(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range maxWaiting {
			go func() {
				if done, err := turns.Acquire(ctx, "a"); err == nil {
					done()
				}
			}()
		}
		synctest.Wait()
		if _, err := turns.Acquire(ctx, "a"); !errors.Is(err, errTestBusy) {
			t.Errorf("one more: %v", err)
		}
		cancel()
		done()
	})
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewFair[string](1, time.Minute, errBusy)
		done, err := turns.Acquire(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := turns.Acquire(t.Context(), "a"); !errors.Is(err, errTestBusy) || time.Since(began) != time.Minute {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		done()
		if _, err := turns.Acquire(t.Context(), "b"); err != nil {
			t.Errorf("the turn of one that waited in vain is lost: %v", err)
		}
	})
}
