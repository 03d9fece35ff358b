package cache_test

import (
	"errors"
	"testing"
	"time"

	"outrigger/internal/cache"
)

const life = time.Minute

// world is a cache and its clock, which counts how often a value was loaded.
type world struct {
	*cache.Cache[string, int]
	now   time.Time
	loads int
}

func newWorld() *world {
	w := &world{now: time.Date(2026, 11, 5, 7, 28, 0, 0, time.UTC)}
	w.Cache = cache.New[string, int](func() time.Time { return w.now }, life, 100)
	return w
}

func (w *world) load(t *testing.T, key string) int {
	t.Helper()
	v, err := w.Load(key, func() (int, error) { w.loads++; return w.loads, nil })
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestValuesAreRememberedForAWhile(t *testing.T) {
	w := newWorld()
	w.Put("put", 7)
	for range 2 {
		if v := w.load(t, "a"); v != 1 {
			t.Errorf("loaded again: %d", v)
		}
		if v, ok := w.Get("put"); !ok || v != 7 {
			t.Errorf("what was put: %d %v", v, ok)
		}
	}
	w.now = w.now.Add(life)
	if v := w.load(t, "a"); v != 2 {
		t.Error("it is remembered too long")
	}
	if _, ok := w.Get("put"); ok {
		t.Error("what was put is remembered too long")
	}
}

func TestWhatIsForgotten(t *testing.T) {
	w := newWorld()
	w.load(t, "a")
	w.load(t, "b")
	w.Delete("a")
	if a, b := w.load(t, "a"), w.load(t, "b"); a != 3 || b != 2 {
		t.Errorf("after a was deleted: %d, %d", a, b)
	}
	w.Clear()
	if a, b := w.load(t, "a"), w.load(t, "b"); a != 4 || b != 5 {
		t.Errorf("after all were deleted: %d, %d", a, b)
	}
}

func TestErrorsAreNotRemembered(t *testing.T) {
	w := newWorld()
	if _, err := w.Load("a", func() (int, error) { return 0, errors.New("no") }); err == nil {
		t.Error("the error is lost")
	}
	if v := w.load(t, "a"); v != 1 {
		t.Error("the error is remembered")
	}
}

// What was read before a change must not come back after it.
func TestForgetWhileLoading(t *testing.T) {
	for name, forget := range map[string]func(*world){
		"one": func(w *world) { w.Delete("a") },
		"all": func(w *world) { w.Clear() },
	} {
		w := newWorld()
		_, _ = w.Load("a", func() (int, error) { forget(w); return 7, nil })
		if v := w.load(t, "a"); v != 1 {
			t.Errorf("%s: what was read before the change came back", name)
		}
	}
}

// A slow load makes nothing younger.
func TestValuesAreAsOfBeforeLoading(t *testing.T) {
	w := newWorld()
	_, _ = w.Load("a", func() (int, error) { w.now = w.now.Add(life); return 7, nil })
	if v := w.load(t, "a"); v != 1 {
		t.Error("a value counts from when it came, not from when it was asked for")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	w := newWorld()
	ints := cache.New[int, int](func() time.Time { return w.now }, life, 100)
	kept := 0
	for i := range 1000 {
		ints.Put(i, i)
	}
	for i := range 1000 {
		if _, ok := ints.Get(i); ok {
			kept++
		}
	}
	if kept == 0 || kept > 100 {
		t.Errorf("%d values are kept", kept)
	}
}
