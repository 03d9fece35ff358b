package relay

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/secret"
)

// Everything that a smarthost may do, one after the other, for hours: the two
// sizes are right at each step, and in the end every message has arrived with
// its bytes as they were.
func TestTrials(t *testing.T) {
	o := setup{host: smarthost.Options{User: "ann", Password: "right"}, sender: func(o *SenderOptions) {
		o.Smarthost.User, o.Smarthost.Password = "ann", secret.New("right")
	}}
	atNight(t, o, func(t *testing.T, n *night) {
		sent := make(map[string]string) // the hash of each message, by its recipient
		add := func(messages int) (ids []int64) {
			for range messages {
				to := fmt.Sprintf("b%d@example.com", len(sent))
				content := fmt.Sprintf("Subject: to %s\r\n\r\n.\r\n..dots\r\ncaf\xe9\r\n\r\n%d\r\n", to, len(sent))
				a := n.arrival(content, to)
				must(t, n.queue.accept(t.Context(), a))
				ids, sent[to] = append(ids, a.id), hash(content)
			}
			return ids
		}
		step := func(what string, mode smarthost.FaultMode, d time.Duration, size, errors int64) {
			t.Helper()
			n.host.SetFaultMode(mode)
			n.after(d)
			if got, err := n.queue.Sizes(t.Context()); err != nil || got != (mailqueue.Sizes{Size: size, ErrorSize: errors}) {
				t.Errorf("%s: %+v, %v, want %d and %d", what, got, err, size, errors)
			}
		}

		n.host.SetFaultMode(smarthost.Refuses)
		refused := add(3)
		step("refused for good", smarthost.Refuses, time.Second, 0, 3)
		n.host.SetFaultMode(smarthost.Defers)
		add(2)
		step("deferred", smarthost.Defers, time.Hour, 2, 3)
		must(t, n.queue.Resend(t.Context(), refused[0]))
		step("one of the refused resent, and deferred", smarthost.Defers, time.Minute, 3, 2)
		n.net.setAway(true)
		add(4)
		step("away", smarthost.Away, 9*time.Hour, 7, 2)
		n.net.setAway(false)
		n.host.SetPassword("another")
		step("wants another password", smarthost.Accepts, 9*time.Hour, 7, 2)
		n.host.SetPassword("right")
		step("takes everything that waits", smarthost.Accepts, time.Hour, 0, 2)
		if resent, err := n.queue.ResendAll(t.Context(), mailqueue.MessageFilter{NodeID: node}); err != nil || resent != 2 {
			t.Errorf("%d were resent: %v", resent, err)
		}
		step("and the rest, resent", smarthost.Accepts, time.Second, 0, 0)
		n.empty()

		for _, m := range n.host.Messages() {
			_, rest := cutReceived(t, string(m.Data))
			if len(m.To) != 1 || sent[m.To[0]] != hash(rest) {
				t.Errorf("%v got %q", m.To, rest)
			}
			delete(sent, m.To[0])
		}
		if len(sent) > 0 {
			t.Errorf("these did not arrive: %v", sent)
		}
	})
}
