package identity

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const wrongCode = "12345x"

// Who has the password and any number of addresses gets no more guesses at a code
// than from one, and the user gets in where they did before, and with a recovery code.
func TestGuessesAtCodesFromEverywhere(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		a, recovery := n.mustUseApp(t, "ann")
		if _, _, err := n.SecondStep(t.Context(), n.firstStep(t, "ann"), Proof{Code: a.code(t, 0)}, here); err != nil {
			t.Fatal(err)
		}
		n.move(2 * totpPeriod)
		guess := func(address string, code secret.Value) fault.Code {
			_, _, err := n.SecondStep(t.Context(), n.firstStep(t, "ann"), Proof{Code: code}, address)
			return fault.CodeOf(err)
		}
		for i := range guessLimit().failures {
			if got := guess(fmt.Sprintf("2001:db8:0:%x::1", i), secret.New(wrongCode)); got != fault.Unauthenticated {
				t.Fatalf("guess %d: %v", i+1, got)
			}
		}
		for i, code := range []secret.Value{secret.New(wrongCode), a.code(t, 0)} {
			if got := guess(fmt.Sprintf("2001:db8:1:%x::1", i), code); got != fault.RateLimited {
				t.Errorf("one more from another address: %v", got)
			}
		}
		if _, _, err := n.SecondStep(t.Context(), n.firstStep(t, "ann"), Proof{Code: recovery[0]}, "203.0.113.1"); err != nil {
			t.Errorf("a recovery code meanwhile: %v", err)
		}
		if _, _, err := n.SecondStep(t.Context(), n.firstStep(t, "ann"), Proof{Code: a.code(t, 0)}, here); err != nil {
			t.Errorf("the user, from where they signed in before: %v", err)
		}
		n.move(firstPause)
		if got := guess("2001:db8:2::1", secret.New(wrongCode)); got != fault.Unauthenticated {
			t.Errorf("after the pause: %v", got)
		}
		if got := guess("2001:db8:3::1", secret.New(wrongCode)); got != fault.RateLimited {
			t.Errorf("and once more: %v", got)
		}
		n.move(time.Minute)
		if _, _, err := n.SecondStep(t.Context(), n.firstStep(t, "ann"), Proof{Code: a.code(t, 0)}, "203.0.113.7"); err != nil {
			t.Errorf("the right code after the next pause: %v", err)
		}
		if got := guess("2001:db8:4::1", secret.New(wrongCode)); got != fault.Unauthenticated {
			t.Errorf("the right code did not forget the guesses: %v", got)
		}
	})
}

// A stolen token or session sends as many codes at once as it likes, to two nodes:
// no more are looked at than one after another.
func TestGuessesAtCodesAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		nodes := []node{newNode(t, d, c), newNode(t, d, c)}
		nodes[0].mustCreate(t, "ann")
		nodes[0].mustUseApp(t, "ann")
		ctx := nodes[0].as(t, "ann")
		var all sync.WaitGroup
		var mu sync.Mutex
		looked := 0
		for i := range 60 {
			all.Go(func() {
				var err error
				if n := nodes[i%2]; i%3 == 0 {
					err = n.Confirm(ctx, Proof{Code: secret.New(wrongCode)}, here)
				} else {
					_, err = n.withCode(WithCode(ctx, secret.New(wrongCode)), From(ctx))
				}
				mu.Lock()
				defer mu.Unlock()
				if !fault.Is(err, fault.RateLimited) {
					looked++
				}
			})
		}
		all.Wait()
		if looked != guessLimit().failures {
			t.Errorf("of 60 codes at once %d were looked at, want %d", looked, guessLimit().failures)
		}
	}, secret.Migrations, audit.Migrations, Migrations)
}
