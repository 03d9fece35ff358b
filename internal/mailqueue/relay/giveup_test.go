package relay

import (
	"slices"
	"testing"
	"time"

	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
)

// 4xx for ever: again after 1, 2, 4, 8, 15, 30 min, 1, 2, 4, 4 … h, and after
// five days into the error queue.
func TestASmarthostThatDefersForEver(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.host.SetFaultMode(smarthost.Defers)
		id := n.add("b@example.com")
		n.after(17 * time.Hour)
		n.sizes(1, 0)
		m := n.message(id)
		if m.SendCount != 12 || m.LastError != "451 4.7.1 Greylisted, please try again later" || m.DueAt.Sub(n.begun) != 20*time.Hour {
			t.Errorf("the message is %+v, due after %v", m, m.DueAt.Sub(n.begun))
		}
		n.after(4*24*time.Hour + 7*time.Hour - time.Second)
		n.sizes(1, 0)
		n.after(time.Second)
		n.sizes(0, 1)
		if m := n.message(id); m.LastError != "451 4.7.1 Greylisted, please try again later" {
			t.Errorf("the last error is %q", m.LastError)
		}
		var at []time.Duration
		for _, a := range n.attempts(id) {
			at = append(at, a.At.Sub(n.begun).Round(time.Second))
			if a.Status != 451 || a.NodeID != node || !slices.Equal(a.Recipients, []string{"b@example.com"}) {
				t.Errorf("an attempt is %+v", a)
			}
		}
		want := seconds(0, 60, 180, 420, 900, 1800, 3600, 7200)
		for h := 4; h < 5*24; h += 4 {
			want = append(want, time.Duration(h)*time.Hour)
		}
		if !slices.Equal(at, want) {
			t.Errorf("attempts at %v, want %v", at, want)
		}
		// Resent, the count starts again.
		n.host.SetFaultMode(smarthost.Accepts)
		must(t, n.queue.Resend(t.Context(), id))
		n.after(0)
		n.sizes(0, 0)
		n.empty()
	})
}

// What waits for five days is given up, however few attempts there were.
func TestFiveDays(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.net.setAway(true)
		id := n.add("b@example.com")
		n.after(5*24*time.Hour - time.Hour)
		n.sizes(1, 0)
		n.host.SetFaultMode(smarthost.Defers)
		n.net.setAway(false)
		n.after(50 * time.Minute)
		n.sizes(1, 0)
		n.after(2 * time.Hour)
		n.sizes(0, 1)
		if m := n.message(id); m.SendCount > 6 {
			t.Errorf("there were %d attempts", m.SendCount)
		}
		// Five more days from when it is resent.
		must(t, n.queue.Resend(t.Context(), id))
		n.after(time.Minute)
		n.sizes(1, 0)
	})
}

// Mail is given up after mail.give_up_after also while the smarthost is away, at
// that time and for each message at its own; while an administrator has paused
// sending it waits.
func TestGivenUpWithoutAnAttempt(t *testing.T) {
	giveUp := func(o *SenderOptions) { o.GiveUpAfter = 24 * time.Hour }
	atNight(t, setup{sender: giveUp}, func(t *testing.T, n *night) {
		n.net.setAway(true)
		id := n.add("b@example.com")
		n.after(time.Hour)
		n.add("c@example.com")
		n.after(23*time.Hour - time.Second)
		n.sizes(2, 0)
		n.after(time.Second)
		n.sizes(1, 1)
		if m := n.message(id); m.SendCount != 0 || m.LastError != "The smarthost mail.example.com:587 cannot be reached: connection refused." {
			t.Errorf("the message is %+v", m)
		}
		must(t, n.queue.SetPaused(t.Context(), node, true))
		n.after(48 * time.Hour)
		n.sizes(1, 1)
		must(t, n.queue.SetPaused(t.Context(), node, false))
		n.after(time.Second)
		n.sizes(0, 2)
		n.net.setAway(false)
		if resent, err := n.queue.ResendAll(t.Context(), mailqueue.MessageFilter{NodeID: node}); err != nil || resent != 2 {
			t.Errorf("%d were resent: %v", resent, err)
		}
		n.after(5 * time.Minute)
		n.sizes(0, 0)
		n.empty()
	})
}
