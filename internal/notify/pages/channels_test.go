package pages

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// A channel whose only message is set aside waits with an open gate: it can be
// tried again all the same.
func TestAChannelCanBeTriedAgain(t *testing.T) {
	now := time.Now()
	p := &Pages{Clock: func() time.Time { return now }}
	for name, c := range map[string]struct {
		channel notify.Channel
		next    bool
		retry   bool
	}{
		"open":         {notify.Channel{Waiting: 3}, false, false},
		"gate closed":  {notify.Channel{GateStep: 1, GateUntil: now.Add(time.Minute), FailingSince: now, Waiting: 1}, true, true},
		"set aside":    {notify.Channel{GateStep: 2, GateUntil: now.Add(-time.Minute), FailingSince: now.Add(-time.Hour), Waiting: 1}, false, true},
		"nothing left": {notify.Channel{GateStep: 2, GateUntil: now.Add(-time.Minute), FailingSince: now.Add(-time.Hour)}, false, false},
	} {
		row := p.channelRow(notify.ChannelInfo{Channel: c.channel}, &identity.Principal{})
		if row.NextTry.IsZero() == c.next || row.CanRetry != c.retry {
			t.Errorf("%s: next try %v, can be tried again: %t", name, row.NextTry, row.CanRetry)
		}
	}
}

func TestTheListShowsAFewRulesOfAChannel(t *testing.T) {
	for _, c := range []struct{ has, shown, more int }{{0, 0, 0}, {5, 5, 0}, {6, 5, 1}, {100, 5, 95}} {
		row := channelRow{Mine: make([]notify.ChannelRule, c.has)}.listed()
		if len(row.Mine) != c.shown || row.More != c.more {
			t.Errorf("of %d rules the list shows %d and says %d more, not %d and %d", c.has, len(row.Mine), row.More, c.shown, c.more)
		}
	}
}

// The overview says since when a channel takes nothing, and leads to the question
// which of its messages to send where some wait.
func TestNoticeOfAChannel(t *testing.T) {
	now := time.Now()
	p := &Pages{Clock: func() time.Time { return now }}
	since := now.Add(-time.Hour)
	for waiting, label := range map[int]string{0: "", 3: "Try again"} {
		n := p.notice(&notify.ChannelInfo{Channel: notify.Channel{GateStep: 1, GateUntil: now.Add(time.Minute), FailingSince: since, Waiting: waiting}})
		if !n.Since.Equal(since) || n.Remedy.Label != label || n.Remedy.Post() || strings.HasSuffix(n.Remedy.Path, "#retry") != (label != "") {
			t.Errorf("%d waiting: %+v", waiting, n)
		}
	}
}
