package identity

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

func TestPausesGrow(t *testing.T) {
	now := newClock().read()
	var f failures
	for range pairLimit().failures - 1 {
		f.add(now, pairLimit())
		if f.until.After(now) {
			t.Fatal("a pause too soon")
		}
	}
	for i, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
		f.add(now, pairLimit())
		if got := f.until.Sub(now); got != want {
			t.Errorf("pause %d is %v, want %v", i+1, got, want)
		}
		now = f.until
	}
	now = now.Add(forgiveAfter + time.Second)
	f.add(now, pairLimit())
	if f.until.After(now) {
		t.Errorf("an hour later one failure makes a pause until %v", f.until)
	}
}

func TestSlowFailuresAreForgotten(t *testing.T) {
	now := newClock().read()
	var f failures
	for range 100 { // ten in five minutes and a bit
		f.add(now, pairLimit())
		now = now.Add(pairLimit().within/time.Duration(pairLimit().failures-1) + time.Second)
	}
	if !f.until.IsZero() {
		t.Error("slow failures make a pause")
	}
}

func TestTimesAreStoredWhole(t *testing.T) {
	now := newClock().read()
	times := []time.Time{now, now.Add(time.Microsecond), now.Add(time.Hour)}
	if diff := cmp.Diff(times, decodeTimes(encodeTimes(times))); diff != "" {
		t.Error(diff)
	}
	if got := decodeTimes([]byte("cut")); got != nil {
		t.Errorf("of what is cut: %v", got)
	}
}

func TestDoors(t *testing.T) {
	for _, c := range []struct {
		a, b attempt
		same bool
	}{
		{attemptOf("ann", "192.0.2.1"), attemptOf("ann", "192.0.2.2"), false},
		{attemptOf("ann", "192.0.2.1"), attemptOf("bob", "192.0.2.1"), false},
		{attemptOf("ann", "2001:db8::1"), attemptOf("ann", "2001:db8::ffff:1"), true},
		{attemptOf("ann", "2001:db8::1"), attemptOf("ann", "2001:db8:0:1::1"), false},
		{attemptOf("ann", "@"), attemptOf("ann", "@"), true},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%v and %v", c.a, c.b)
		}
	}
}

// wrong tries a wrong password.
func (n node) wrong(t *testing.T, user, address string) fault.Code {
	t.Helper()
	_, err := n.Basic(t.Context(), user, "wrong password", address)
	return fault.CodeOf(err)
}

// TestManyAccountsFromOneAddress: after 30 failures an address is slowed down
// whatever the account, on all nodes, but for the names that it is known for.
func TestManyAccountsFromOneAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		one, other := newNode(t, d, c), newNode(t, d, c)
		one.mustCreate(t, "ann")
		one.mustCreate(t, "bob")
		if _, err := one.Basic(t.Context(), "ann", goodPassword, here); err != nil {
			t.Fatal(err)
		}
		answers := map[fault.Code]int{}
		for i := range 60 {
			n := []node{one, other}[i%2]
			answers[n.wrong(t, fmt.Sprint("invented", i), here)]++
			c.move(time.Second)
		}
		want := map[fault.Code]int{fault.Unauthenticated: 30, fault.RateLimited: 30}
		// The pause of 30 s ends once meanwhile, and one more failure begins the next.
		if answers[fault.Unauthenticated] < 30 || answers[fault.Unauthenticated] > 31 || answers[fault.RateLimited] < 29 {
			t.Errorf("60 accounts from one address got %v, want about %v", answers, want)
		}
		for _, n := range []node{one, other} {
			if _, err := n.Basic(t.Context(), "bob", goodPassword, here); !fault.Is(err, fault.RateLimited) {
				t.Errorf("a name that never signed in from the address: %v", err)
			}
			if _, err := n.Basic(t.Context(), "ann", goodPassword, here); err != nil {
				t.Errorf("a name that signed in from the address: %v", err)
			}
			if _, err := n.Basic(t.Context(), "bob", goodPassword, "192.0.2.77"); err != nil {
				t.Errorf("another address: %v", err)
			}
		}
		c.move(exemptFor + time.Hour)
		for i := range 30 {
			one.wrong(t, fmt.Sprint("invented", i), here)
		}
		if _, err := one.Basic(t.Context(), "ann", goodPassword, here); !fault.Is(err, fault.RateLimited) {
			t.Errorf("a name that signed in from the address long ago: %v", err)
		}
	}, secret.Migrations, audit.Migrations, Migrations)
}

// TestAttackFromEverywhere: an account that is attacked from many addresses
// slows each of them down after one failure, and its owner does not notice,
// wherever they sign in from.
func TestAttackFromEverywhere(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		if _, err := n.Basic(t.Context(), "ann", goodPassword, here); err != nil {
			t.Fatal(err)
		}
		for i := range accountLimit().failures {
			if got := n.wrong(t, "ann", fmt.Sprintf("198.51.100.%d", i)); got != fault.Unauthenticated {
				t.Fatalf("failure %d: %v", i+1, got)
			}
		}
		if _, err := n.Basic(t.Context(), "ann", goodPassword, "203.0.113.2"); err != nil {
			t.Errorf("the owner, from a new address: %v", err)
		}
		for i, want := range []fault.Code{fault.Unauthenticated, fault.RateLimited, fault.RateLimited} {
			if got := n.wrong(t, "ann", "203.0.113.1"); got != want {
				t.Errorf("guess %d from a new address: %v, want %v", i+1, got, want)
			}
		}
		n.move(firstPause + time.Second)
		for i, want := range []fault.Code{fault.Unauthenticated, fault.RateLimited} {
			if got := n.wrong(t, "ann", "203.0.113.1"); got != want {
				t.Errorf("guess %d after the pause: %v, want %v", i+1, got, want)
			}
		}
		if got := n.wrong(t, "bob", "203.0.113.1"); got != fault.Unauthenticated {
			t.Errorf("another account from there: %v", got)
		}
		n.move(rememberFor) // so that the password is compared
		if got := n.wrong(t, "ann", here); got != fault.Unauthenticated {
			t.Errorf("the owner mistypes: %v", got)
		}
		for range accountLimit().failures {
			n.wrong(t, "ann", "203.0.113.1")
		}
		if _, err := n.Basic(t.Context(), "ann", goodPassword, here); err != nil {
			t.Errorf("the owner, from where they sign in: %v", err)
		}
	})
}

// TestFailuresAreForgottenAfterAnHour: the table does not grow for ever.
func TestFailuresAreForgottenAfterAnHour(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		rows := func() (count int) {
			err := n.db.Read(t.Context(), func(tx *db.Tx) error {
				return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM identity_failures`).Scan(&count)
			})
			if err != nil {
				t.Fatal(err)
			}
			return count
		}
		for i := range 5 {
			n.wrong(t, fmt.Sprint("user", i), fmt.Sprint("192.0.2.", i))
		}
		if got := rows(); got != 15 {
			t.Errorf("%d counters, want 15", got)
		}
		n.move(forgiveAfter + time.Second)
		n.wrong(t, "user", here)
		if got := rows(); got != 3 {
			t.Errorf("an hour later there are %d counters, want the 3 of the last failure", got)
		}
	})
}

// TestFloodKeepsNobodyWaiting: 1,500 sign-ins of invented users at once from
// one address cost no more than that address may try, and others get in.
func TestFloodKeepsNobodyWaiting(t *testing.T) {
	n := newNode(t, openMigrated(t), newClock())
	n.mustCreate(t, "ann")
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := map[fault.Code]int{}
	for i := range 1500 {
		wg.Go(func() {
			got := n.wrong(t, fmt.Sprint("invented", i), "198.51.100.1")
			mu.Lock()
			defer mu.Unlock()
			answers[got]++
		})
	}
	if _, err := n.Basic(t.Context(), "ann", goodPassword, here); err != nil {
		t.Errorf("a right password from another address: %v", err)
	}
	wg.Wait()
	if got := answers[fault.Unauthenticated]; got < 30 || got > 30+maxHashing-1 || got+answers[fault.RateLimited]+answers[fault.Unavailable] != 1500 {
		t.Errorf("%v", answers)
	}
}
