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

// The list names what uses a channel first, and counts the others.
func TestTheListCountsWhatUsesAChannel(t *testing.T) {
	for _, c := range []struct {
		rules, reports, others int
		says                   string
	}{
		{0, 0, 0, ""}, {1, 0, 0, ""}, {0, 1, 0, ""}, {2, 0, 0, "and 1 more"}, {1, 1, 0, "and 1 more"}, {1, 0, 2, "and 2 more"}, {0, 0, 3, "3 of other administrators"}, {1_001, 0, 0, "and 1,000 more"},
	} {
		row := channelRow{Mine: make([]notify.ChannelRule, c.rules), Reports: make([]notify.Report, c.reports), Others: c.others}
		if got := row.MoreUses(); got != c.says {
			t.Errorf("%+v: %q", c, got)
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
