package identity

import (
	"fmt"
	"testing"
	"time"
)

func TestPausesGrow(t *testing.T) {
	c := newClock()
	th := newThrottle(c.read)
	d := doorOf("ann", here)
	for range maxFailures - 1 {
		th.failed(d)
		if th.wait(d) != 0 {
			t.Fatal("closed too soon")
		}
	}
	for i, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
		th.failed(d)
		if got := th.wait(d); got != want {
			t.Errorf("pause %d is %v, want %v", i+1, got, want)
		}
		c.move(want)
		if th.wait(d) != 0 {
			t.Errorf("pause %d is longer than it says", i+1)
		}
	}
	c.move(forgiveAfter + time.Second)
	th.failed(d)
	if got := th.wait(d); got != 0 {
		t.Errorf("an hour later one failure closes for %v", got)
	}
}

func TestFailuresAreForgotten(t *testing.T) {
	c := newClock()
	th := newThrottle(c.read)
	d := doorOf("ann", here)
	for range 100 { // ten in five minutes and a bit
		th.failed(d)
		c.move(failureWindow/(maxFailures-1) + time.Second)
	}
	if th.wait(d) != 0 {
		t.Error("slow failures close the door")
	}
	for range maxFailures - 1 {
		th.failed(d)
	}
	th.succeeded(d)
	th.failed(d)
	if th.wait(d) != 0 {
		t.Error("a success does not make failures forgotten")
	}
}

func TestDoors(t *testing.T) {
	for _, c := range []struct {
		a, b door
		same bool
	}{
		{doorOf("ann", "192.0.2.1"), doorOf("ann", "192.0.2.2"), false},
		{doorOf("ann", "192.0.2.1"), doorOf("bob", "192.0.2.1"), false},
		{doorOf("ann", "2001:db8::1"), doorOf("ann", "2001:db8::ffff:1"), true},
		{doorOf("ann", "2001:db8::1"), doorOf("ann", "2001:db8:0:1::1"), false},
		{doorOf("ann", "@"), doorOf("ann", "@"), true},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%v and %v", c.a, c.b)
		}
	}
}

func TestThrottleIsBounded(t *testing.T) {
	c := newClock()
	th := newThrottle(c.read)
	victim := doorOf("ann", here)
	for range maxFailures {
		th.failed(victim)
	}
	for i := range 3 * maxThrottled {
		th.failed(doorOf(fmt.Sprint("user", i), here))
	}
	if len(th.doors) > maxThrottled {
		t.Errorf("%d doors are kept", len(th.doors))
	}
	if th.wait(victim) == 0 {
		t.Error("trying many names opens a closed door")
	}
}
