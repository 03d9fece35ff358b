package pages

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/answer"
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

// What helps against a channel in trouble is offered to who may do it: not where a rule of
// others sends there too.
func TestWhoMayActOnAChannelOfTheList(t *testing.T) {
	p := &Pages{Clock: time.Now}
	atl := &identity.Principal{UserID: 1, Grants: []identity.Grant{{Permission: identity.ProjectAdmin, Resource: identity.Resource{Connection: "main", Project: "ATL"}}}}
	own, global := notify.ChannelRule{Connection: "main", ProjectKey: "ATL"}, notify.ChannelRule{Connection: "main"}
	for _, c := range []struct {
		rules []notify.ChannelRule
		may   bool
	}{{[]notify.ChannelRule{own}, true}, {[]notify.ChannelRule{own, global}, false}} {
		if row := p.channelRow(notify.ChannelInfo{Rules: c.rules}, atl); row.Act != c.may {
			t.Errorf("of %d rules, one is its own: it may act: %t", len(c.rules), row.Act)
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

// What helps against a channel whose workflow is gone or off is another webhook URL, whether
// something waits or not; the list's menu and the channel's page agree.
func TestAChannelThatIsGoneNeedsAURL(t *testing.T) {
	p := &Pages{Clock: time.Now}
	for _, c := range []struct {
		reason string
		want   bool
	}{
		{answer.Sentence(404, `{"error":{"code":"WorkflowNotFound","message":"No workflow."}}`), true},
		{answer.Withheld(410), true}, {answer.Withheld(400), true},
		{"It refused 5 messages in a row. The last time: " + answer.Withheld(400), false},
		{answer.Sentence(401, "404"), false}, {"The name chat.example.com cannot be found.", false},
	} {
		for _, waiting := range []int{0, 2} {
			channel := notify.Channel{ID: 7, Host: "chat.example.com", State: notify.Broken, Reason: c.reason, BrokenAt: time.Now(), Waiting: waiting}
			n := p.notice(&notify.ChannelInfo{Channel: channel})
			if got := n.Remedy.Path == "/notifications/channels/7/replace" && n.Remedy.Label == "Replace the webhook URL"; got != c.want {
				t.Errorf("%s: %+v", c.reason, n.Remedy)
			}
			if n.Remedy.Label != "" && n.Remedy.Of != (&notify.ChannelInfo{Channel: channel}).Name() {
				t.Errorf("%s: what helps does not name the channel: %+v", c.reason, n.Remedy)
			}
			if row := p.channelRow(notify.ChannelInfo{Channel: channel}, &identity.Principal{}); row.NeedsURL != c.want {
				t.Errorf("%s: the list offers a replacement: %t", c.reason, row.NeedsURL)
			}
		}
	}
}

func TestWhatWaitsForTheNextTry(t *testing.T) {
	now := time.Now()
	p := &Pages{Clock: func() time.Time { return now }}
	for want, r := range map[string]notify.Retrying{
		"": {},
		"1 message waits for 1 channel: the next try is in 20 s.":                  {Channels: 1, Messages: 1, Next: now.Add(20 * time.Second)},
		"2 messages wait for 1 channel: the next try is in 20 s.":                  {Channels: 1, Messages: 2, Next: now.Add(16 * time.Second)},
		"3 messages wait for 2 channels: the next try is in 2 min.":                {Channels: 2, Messages: 3, Next: now.Add(61 * time.Second)},
		"100 or more messages wait for 2 channels: the next try is now.":           {Channels: 2, Messages: 100, Next: now.Add(-time.Second)},
		"500 or more messages wait for 100 or more channels: the next try is now.": {Channels: 100, Messages: 500},
	} {
		if got := p.pending(r); got.Label != want || (got.Path == "") != (want == "") {
			t.Errorf("%+v: %+v, want %q", r, got, want)
		}
	}
}
