package store

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// A channel that rests after a failure is waiting while its gate is closed or
// something waits on it. After that it is open everywhere, until it fails again; one
// that is broken stays so.
func TestAChannelWithNothingLeftToSendIsOpen(t *testing.T) {
	now := time.Now()
	gates := map[string]notify.Channel{
		"passed":  {State: notify.Open, GateStep: 2, GateReason: "503", GateUntil: now.Add(-time.Minute), FailingSince: now.Add(-time.Hour)},
		"days":    {State: notify.Open, GateStep: 7, GateReason: "503", GateUntil: now.Add(-time.Minute), FailingSince: now.Add(-48 * time.Hour)},
		"refused": {State: notify.Open, Refused: 1, GateReason: "404", GateUntil: now.Add(-time.Minute), FailingSince: now.Add(-time.Hour)},
		"by hand": {State: notify.Open, GateReason: "503", FailingSince: now.Add(-time.Hour)},
		"closed":  {State: notify.Open, GateStep: 2, GateReason: "503", GateUntil: now.Add(time.Hour), FailingSince: now.Add(-time.Hour)},
		"broken":  {State: notify.Broken, Reason: "404", Refused: 3, GateUntil: now.Add(-time.Minute), FailingSince: now.Add(-time.Hour)},
	}
	full := map[string]string{"passed": "waiting", "days": "unreachable", "refused": "waiting", "by hand": "waiting", "closed": "waiting", "broken": "broken"}
	empty := map[string]string{"passed": "open", "days": "open", "refused": "open", "by hand": "open", "closed": "waiting", "broken": "broken"}
	for name, fails := range gates {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				rule := save(t, s, someRule("one"), flowURL("a"))
				report := saveReport(t, s, someReport("two"), flowURL("a"))
				fails := fails
				fails.ID = rule.ChannelID
				if err := s.db.Write(t.Context(), func(tx *db.Tx) error { return updateChannel(t.Context(), tx, &fails) }); err != nil {
					t.Fatal(err)
				}
				shows := func(when, want string) {
					t.Helper()
					got := map[string]string{}
					c, _, err := s.Channel(t.Context(), rule.ChannelID)
					got["channel"] = c.Status(now).State
					infos, wrong := s.ListChannels(t.Context(), notify.ChannelPage{Limit: 10, Visible: func(*notify.ChannelInfo) bool { return true }})
					if err != nil || wrong != nil || len(infos) != 1 {
						t.Fatal(err, wrong, infos)
					}
					got["list"] = infos[0].Status(now).State
					r, err := s.Rule(t.Context(), rule.ID)
					if err != nil {
						t.Fatal(err)
					}
					of := reportNow(t, s, report.ID)
					got["rule"], got["report"] = r.Channel.Status(now).State, of.Channel.Status(now).State
					b, err := s.Backlog(t.Context(), allShards)
					if err != nil {
						t.Fatal(err)
					}
					for state, n := range b.Channels {
						if n > 0 {
							got["metric"] += fmt.Sprint(state)
						}
					}
					for where, state := range got {
						if state != want {
							t.Errorf("%s: %s says %s, want %s", when, where, state, want)
						}
					}
				}
				shows("before anything came", empty[name])
				ids := acceptMany(t, s, 2)
				shows("while two wait", full[name])
				for i, id := range ids {
					if _, err := s.Cancel(t.Context(), ada, []int64{id}); err != nil {
						t.Fatal(err)
					}
					shows("after a cancel", []string{full[name], empty[name]}[i])
				}
				accept(t, s, webhook("one more", *pushedTo("ATL", "canoe", "main", "ada")))
				shows("when one more came", full[name])
			})
		})
	}
}
