package hook

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// unverifiedFrom is a body that has come in at an address.
func unverifiedFrom(s *unverified, address string) *body {
	b := &body{address: address, control: *http.NewResponseController(httptest.NewRecorder())}
	s.enter(b)
	return b
}

func TestTheSlowestMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newUnverified(400)
		fill := func(address string) *body {
			t.Helper()
			b := unverifiedFrom(s, address)
			if err := s.received(b, 100, 100); err != nil {
				t.Fatal(err)
			}
			return b
		}
		burst := fill("a") // much at once, and then no more
		_ = s.received(burst, 1_000_000, 0)
		steady := fill("b")
		slow := fill("c")
		<-time.After(15 * paceTime)
		_ = s.received(steady, 100, 0)
		_ = s.received(slow, 10, 0)
		fill("d")
		fill("e")
		if !burst.dropped || slow.dropped || steady.dropped {
			t.Errorf("dropped: burst %v, slow %v, steady %v; want the one that stalls", burst.dropped, slow.dropped, steady.dropped)
		}
		fill("f")
		if !slow.dropped || steady.dropped {
			t.Errorf("dropped: slow %v, steady %v; want the slow one", slow.dropped, steady.dropped)
		}
		if s.held != 400 {
			t.Errorf("%d bytes are held, want 400", s.held)
		}
		if err := s.received(slow, 1, 0); err == nil {
			t.Error("a body that was dropped goes on")
		}
		if !s.leave(slow) || s.leave(steady) || s.held != 300 {
			t.Errorf("after two have left %d bytes are held, want 300", s.held)
		}
	})
}

func TestOneAddressHoldsAQuarter(t *testing.T) {
	s := newUnverified(400)
	first, second, other := unverifiedFrom(s, "a"), unverifiedFrom(s, "a"), unverifiedFrom(s, "b")
	for _, b := range []*body{other, first, second} {
		if err := s.received(b, 100, 100); err != nil {
			t.Fatal(err)
		}
	}
	if !first.dropped || second.dropped || other.dropped || s.held != 200 {
		t.Errorf("dropped: first %v, second %v, other %v, held %d; want room made among those of the address", first.dropped, second.dropped, other.dropped, s.held)
	}
	if err := s.received(second, 1, 200); err == nil {
		t.Error("one body of an address holds more than a quarter")
	}
}

// A body that began a moment ago is as fast as it came since then: one that
// came in a burst and stalls goes before it.
func TestANewBodyIsNotTheSlowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newUnverified(8000)
		burst := unverifiedFrom(s, "a")
		if err := s.received(burst, 900, 1000); err != nil {
			t.Fatal(err)
		}
		<-time.After(300 * time.Millisecond)
		signed := unverifiedFrom(s, "a")
		<-time.After(10 * time.Millisecond)
		if err := s.received(signed, 200, 500); err != nil {
			t.Fatal(err)
		}
		next := unverifiedFrom(s, "a")
		if err := s.received(next, 900, 1000); err != nil {
			t.Fatal(err)
		}
		if signed.dropped || !burst.dropped {
			t.Errorf("dropped: signed %v, burst %v; want the one that stalls", signed.dropped, burst.dropped)
		}
	})
}
