package relay

import (
	"sync"
	"testing"
	"time"

	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/secret"
)

// A wrong password is shown to the smarthost by one connection at a time,
// however many messages wait: servers lock accounts that guess.
func TestOneConnectionSignsInFirst(t *testing.T) {
	var mu sync.Mutex
	signIns := 0
	react := func(r smarthost.Request) *smarthost.Reaction {
		mu.Lock()
		defer mu.Unlock()
		if r.Verb == "AUTH" {
			signIns++
		}
		return nil
	}
	o := setup{host: smarthost.Options{User: "ann", Password: "other", React: react}, sender: func(o *SenderOptions) {
		o.Smarthost.User, o.Smarthost.Password = "ann", secret.New("right")
	}}
	atNight(t, o, func(t *testing.T, n *night) {
		counts := func(want int, when string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if signIns != want {
				t.Errorf("%s: %d sign-ins, want %d", when, signIns, want)
			}
			signIns = 0
		}
		n.together(func() {
			for range 40 {
				n.add("b@example.com")
			}
		})
		n.after(time.Second)
		counts(1, "at first")
		_, err := n.queue.Flush(t.Context(), mailqueue.MessageFilter{NodeID: node})
		must(t, err)
		n.after(time.Second)
		counts(1, "after a flush")
		n.after(14 * time.Second) // 5 s, and 10 s after that
		counts(2, "after two pauses")
		n.host.SetPassword("right")
		n.after(time.Minute)
		n.sizes(0, 0)
	})
}
