package identity

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestRecent(t *testing.T) {
	c := newClock()
	r := newRecent[string, int](c.read)
	loads := 0
	get := func() int {
		v, err := r.get("a", func() (int, error) { loads++; return loads, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for range 2 {
		if get() != 1 {
			t.Error("it is not remembered")
		}
	}
	c.move(freshness)
	if get() != 2 {
		t.Error("it is remembered too long")
	}
	r.forget()
	if get() != 3 {
		t.Error("it is not forgotten")
	}
	if _, err := r.get("b", func() (int, error) { return 0, errors.New("no") }); err == nil {
		t.Error("the error is lost")
	}
	if v, err := r.get("b", func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Error("the error is remembered")
	}
}

// TestForgetWhileLoading: what was read before a change must not come back
// after it.
func TestForgetWhileLoading(t *testing.T) {
	r := newRecent[string, string](newClock().read)
	_, _ = r.get("a", func() (string, error) {
		r.forget()
		return "old", nil
	})
	if v, _ := r.get("a", func() (string, error) { return "new", nil }); v != "new" {
		t.Error("what was read before the change came back")
	}
}

// TestRecentCountsFromBeforeLoading: a slow database makes nothing older.
func TestRecentCountsFromBeforeLoading(t *testing.T) {
	c := newClock()
	r := newRecent[string, int](c.read)
	_, _ = r.get("a", func() (int, error) { c.move(time.Second); return 1, nil })
	if v, _ := r.get("a", func() (int, error) { return 2, nil }); v != 2 {
		t.Error("an answer counts from when it came, not from when it was asked for")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	c := newClock()
	r := newRecent[int, int](c.read)
	known := newRemembered(c.read, []byte("key"))
	for i := range 3 * maxRecent {
		_, _ = r.get(i, func() (int, error) { return i, nil })
		known.add(fmt.Sprint(i), goodPassword, "stored")
	}
	if len(r.entries) > maxRecent || len(known.entries) > maxRemembered {
		t.Errorf("%d answers and %d successes are kept", len(r.entries), len(known.entries))
	}
}
