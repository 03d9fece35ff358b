package relay

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
)

// Under a smarthost that answers at random, leases that are lost and senders
// that are stopped and begun anew, every message arrives in the end for every
// recipient, its bytes unchanged; none more often than once for each loss that
// caught it in flight.
func TestChaos(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd, answers := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
			var mu sync.Mutex
			well := false
			faultModes := map[string]string{
				"CONNECT": "421 4.3.2 Later!", "EHLO": "!", "MAIL": "451 4.3.0 Later", "MAIL ": "421 4.7.0 Enough!", "RCPT": "450 4.2.1 Later",
				"RCPT ": "550 5.1.1 Unknown", "RCPT  ": "452 4.5.3 Too many", "DATA": "451 4.3.0 Later", "DATA ": "!", ".": "250 2.0.0 Taken!",
				". ": "451 4.3.0 Later", ".  ": "554 5.7.1 No",
			}
			react := func(r smarthost.Request) *smarthost.Reaction {
				mu.Lock()
				defer mu.Unlock()
				reply := faultModes[r.Verb+strings.Repeat(" ", answers.IntN(3))]
				if well || reply == "" || answers.IntN(5) > 0 {
					return nil
				}
				return play(map[string]string{r.Verb: reply})(r)
			}
			atNight(t, setup{renew: true, host: smarthost.Options{React: react}}, func(t *testing.T, n *night) {
				losses, sent := 0, make(map[string]string)
				for i := range 100 {
					to := []string{fmt.Sprintf("b%d@example.com", i)}
					if rnd.IntN(3) == 0 {
						to = append(to, fmt.Sprintf("c%d@example.com", i))
					}
					n.add(to...)
					for _, one := range to {
						sent[one] = "Subject: to " + strings.Join(to, " ") + "\r\n\r\nHello\r\n"
					}
					n.wander(rnd, &losses)
				}
				mu.Lock()
				well = true
				mu.Unlock()
				n.after(10 * time.Minute)
				_, err := n.queue.ResendAll(t.Context(), mailqueue.MessageFilter{NodeID: node})
				must(t, err)
				_, err = n.queue.Flush(t.Context(), mailqueue.MessageFilter{NodeID: node})
				must(t, err)
				n.after(time.Minute)
				n.sizes(0, 0)
				n.empty()
				n.arrived(sent, losses*8)
			})
		})
	}
}

// wander lets a little time pass, in which this or that happens.
func (n *night) wander(rnd *rand.Rand, losses *int) {
	n.t.Helper()
	if rnd.IntN(2) == 0 {
		n.after(time.Duration(rnd.IntN(3000)) * time.Millisecond)
	}
	switch rnd.IntN(40) {
	case 0:
		*losses++
		must(n.t, n.db.Write(n.t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(n.t.Context(), `UPDATE leases SET owner = 'thief', fence = fence + 1, expires_at = $1`, db.Micros(tx.Now().Add(3*time.Second)))
			return err
		}))
	case 1:
		n.sender.Stop()
		n.sender = NewSender(n.queue, n.sender.o)
		must(n.t, n.sender.Start(n.t.Context()))
	case 2:
		_, err := n.queue.Flush(n.t.Context(), mailqueue.MessageFilter{})
		must(n.t, err)
	case 3:
		_, err := n.queue.ResendAll(n.t.Context(), mailqueue.MessageFilter{})
		must(n.t, err)
	}
}

// arrived compares what the smarthost has with what was sent to whom.
func (n *night) arrived(sent map[string]string, repeats int) {
	n.t.Helper()
	count := make(map[string]int)
	for _, m := range n.host.Messages() {
		_, rest := cutReceived(n.t, string(m.Data))
		for _, to := range m.To {
			if count[to]++; sent[to] != rest {
				n.t.Errorf("%s got %q", to, rest)
			}
		}
	}
	extra := 0
	for to := range sent {
		if count[to] == 0 {
			n.t.Errorf("%s got nothing", to)
		}
		extra += max(count[to]-1, 0)
	}
	if extra > repeats {
		n.t.Errorf("%d were repeated, %d at most may be", extra, repeats)
	}
}
