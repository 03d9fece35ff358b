package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// exchanges are results that are kept one after another, with what is then read.
type exchanges struct {
	t     *testing.T
	s     *Store
	lease string
	fence int64
}

// try keeps an attempt at deliveries, that was refused or, at 202, taken.
func (x exchanges) try(n, status int, of ...*notify.Delivery) {
	x.t.Helper()
	r := &notify.Result{
		Deliveries: of, State: notify.Waiting, Lease: x.lease, Fence: x.fence,
		Attempt: &work.Attempt{At: time.Unix(int64(n), 0), Took: time.Second, Status: status, Public: true},
	}
	if r.State = notify.Delivered; status != 202 {
		r.State = notify.Waiting
		r.Exchange = &notify.Exchange{
			Headers: []notify.Header{{Name: "Retry-After", Value: fmt.Sprint(n)}, {Name: "Server", Value: "a: b\uFFFD"}},
			Request: fmt.Sprintf("{\"try\":%d,\"text\":\"it's\\n\u202E☃\"}", n), Format: of[0].Format,
		}
		if len(of) > 1 {
			r.Exchange.Batch = of[0].ID
		}
	}
	if err := x.s.SaveResult(x.t.Context(), r); err != nil {
		x.t.Fatal(err)
	}
	for _, d := range of {
		d.Attempts, d.Errors5xx = r.Counters(d)
	}
}

// kept is, of a delivery's attempts, in which the headers and what was sent are kept.
func (x exchanges) kept(of *notify.Delivery) string {
	x.t.Helper()
	_, attempts, err := x.s.Delivery(x.t.Context(), of.ID)
	if err != nil {
		x.t.Fatal(err)
	}
	var said []string
	for _, a := range attempts {
		n := a.At.Unix()
		text := fmt.Sprint(n)
		if a.Status == 202 { // at the end of its delivery
			text = "taken"
		}
		if len(a.Headers) > 0 {
			if got, want := fmt.Sprint(a.Headers), fmt.Sprintf("[{Retry-After %d} {Server a: b\uFFFD}]", n); got != want {
				x.t.Errorf("headers %s, want %s", got, want)
			}
			text += "h"
		}
		if a.Request != "" {
			if want := fmt.Sprintf("{\"try\":%d,\"text\":\"it's\\n\u202E☃\"}", n); a.Request != want {
				x.t.Errorf("sent %s, want %s", a.Request, want)
			}
			text += "r"
		}
		if a.Batch != 0 {
			text += "d"
		}
		said = append(said, text)
	}
	return strings.Join(said, " ")
}

// What was sent is kept with the first and the last refused attempt, however often
// it was tried, delivered and put back; headers with each that was refused.
func TestWhatIsKeptOfExchanges(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		x := exchanges{t: t, s: s}
		x.lease, x.fence = hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		acceptMany(t, s, 6)
		all := waiting(t, s)
		one, two, digest := all[0], all[1], all[2:5]
		want := func(d *notify.Delivery, want string) {
			t.Helper()
			if got := x.kept(d); got != want {
				t.Errorf("of delivery %d: %s, want %s", d.ID, got, want)
			}
		}
		x.try(1, 503, one)
		x.try(1, 202, two)
		want(one, "1hr")
		x.try(2, 503, one)
		want(one, "1hr 2hr")
		for n := 3; n <= 5; n++ {
			x.try(n, 500+n, one)
		}
		want(one, "1hr 2h 3h 4h 5hr")
		x.try(6, 202, one)
		want(one, "1hr 2h 3h 4h 5hr taken")
		want(two, "taken")
		if n := count(t, s, `SELECT COUNT(*) FROM notify_attempts WHERE delivery_id = $1`, two.ID); n != 0 {
			t.Errorf("%d rows are kept of what was delivered at once", n)
		}
		if _, err := s.Redeliver(t.Context(), ada, []int64{one.ID, two.ID}); err != nil {
			t.Fatal(err)
		}
		for _, d := range []*notify.Delivery{one, two} {
			again, _, err := s.Delivery(t.Context(), d.ID)
			if err != nil {
				t.Fatal(err)
			}
			*d = *again
		}
		want(two, "taken")
		for n := 7; n <= 9; n++ {
			x.try(n, 500, one)
			x.try(n, 500, two)
		}
		want(one, "1hr 2h 3h 4h 5h taken 7h 8h 9hr")
		want(two, "taken 7hr 8h 9hr")
		for n := 10; n <= 70; n++ {
			x.try(n, 500, one)
		}
		if got := x.kept(one); !strings.HasPrefix(got, "1hr 2h 3h 4h 5h taken 7h 8h 9h 10h 31h ") || !strings.HasSuffix(got, " 69h 70hr") || strings.Count(got, "r") != 2 {
			t.Errorf("of many: %s", got)
		}

		// A digest's members have it in common; it is stored once.
		x.try(1, 500, digest[2])
		for n := 2; n <= 4; n++ {
			x.try(n, 500, digest...)
		}
		want(digest[0], "2hrd 3hd 4hrd")
		want(digest[1], "2hrd 3hd 4hrd")
		want(digest[2], "1hr 2hrd 3hd 4hrd")
		if n := count(t, s, `SELECT COUNT(*) FROM notify_attempts WHERE batch > 0 AND request <> ''`); n != 2 {
			t.Errorf("a digest's message is stored %d times, want 2", n)
		}
		// Its first is tried alone, and another digest follows.
		x.try(5, 500, digest[0])
		x.try(6, 500, digest[1:]...)
		want(digest[0], "2hrd 3hd 4hd 5hr")
		want(digest[2], "1hr 2hrd 3hd 4hd 6hrd")
		want(all[5], "")
	})
}

// Attempts of before, and those that the release before writes beside this one, have
// neither; what ends takes its attempts along.
func TestAttemptsOfTheReleaseBefore(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		x := exchanges{t: t, s: s}
		x.lease, x.fence = hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		acceptMany(t, s, 2)
		d := waiting(t, s)[0]
		for n := 1; n <= 3; n++ {
			damage(t, s, `INSERT INTO notify_attempts (delivery_id, number, at, took, status, answer, error) VALUES ($1, $2, $3, 1, 429, '', '')`, d.ID, n, n*1e6)
		}
		d.Attempts = 3
		for n := 4; n <= 6; n++ {
			x.try(n, 429, d)
		}
		if got, want := x.kept(d), "1 2 3 4hr 5h 6hr"; got != want {
			t.Errorf("kept %s, want %s", got, want)
		}
	})
}
