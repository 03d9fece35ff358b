package store

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

func anyone(*notify.ChannelInfo) error { return nil }

// replace replaces the webhook URL of a channel, whatever version it has.
func replace(t *testing.T, s *Store, id int64, url string) (notify.ChannelInfo, error) {
	t.Helper()
	return s.SaveChannel(t.Context(), ada, id, notify.ChannelChange{
		ChannelDraft: notify.ChannelDraft{Format: notify.Auto}, URL: secret.New(url),
	}, anyone)
}

func urlOf(t *testing.T, s *Store, channel int64) string {
	t.Helper()
	_, url, err := s.Channel(t.Context(), channel)
	if err != nil {
		t.Fatal(err)
	}
	return url.Reveal()
}

// A replaced webhook URL holds for all rules and reports of its channel and for what
// waits, in the order in which it waited; the other channels keep theirs. Former
// fingerprints lead to the channel, until another one has that URL.
func TestAReplacedURLHoldsForAllOfAChannel(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one, two := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("a"))
		report := saveReport(t, s, someReport("stale"), flowURL("a"))
		other := save(t, s, someRule("other"), flowURL("b"))
		acceptMany(t, s, 3)
		exec(t, s, `UPDATE notify_channels SET state = 'broken', reason = 'HTTP 404', refused = 3, failing_since = 5, gate_until = 9000000000000000`)
		exec(t, s, `UPDATE notify_deliveries SET errors_5xx = 2, due_at = 9000000000000000, beside = 1`)
		saved, err := replace(t, s, one.ChannelID, flowURL("c"))
		if err != nil || saved.ID != one.ChannelID || saved.State != notify.Open || saved.Version != one.Channel.Version+1 || saved.Waiting != 3 ||
			len(saved.Rules) != 2 || len(saved.Reports) != 1 || saved.Status(time.Now()).State != "open" {
			t.Fatalf("replaced: %+v, %v", saved, err)
		}
		for _, r := range []notify.RuleInfo{one, two} {
			now, err := s.Rule(t.Context(), r.ID)
			if err != nil || now.ChannelID != one.ChannelID || now.Version != r.Version || now.Channel.Fingerprint != saved.Fingerprint {
				t.Errorf("rule %s: %+v, %v", r.Name, now.Channel, err)
			}
		}
		if now, err := s.Report(t.Context(), report.ID); err != nil || now.Channel.Mask != saved.Mask {
			t.Errorf("report: %+v, %v", now.Channel, err)
		}
		if urlOf(t, s, one.ChannelID) != flowURL("c") || urlOf(t, s, other.ChannelID) != flowURL("b") {
			t.Error("the URLs are not those that were given")
		}
		if n := count(t, s, fmt.Sprintf(`SELECT count(*) FROM notify_deliveries WHERE channel_id = %d AND errors_5xx + due_at + beside = 0`, one.ChannelID)); n != 3 {
			t.Errorf("%d messages try the new URL at once", n)
		}
		if n := count(t, s, fmt.Sprintf(`SELECT count(*) FROM notify_deliveries WHERE channel_id = %d AND errors_5xx = 2`, other.ChannelID)); n != 3 {
			t.Errorf("%d messages of the other channel are as they were", n)
		}
		for _, name := range []string{one.Channel.Fingerprint, saved.Fingerprint, saved.UnderID()} {
			if found, err := s.ChannelOf(t.Context(), name); err != nil || found.ID != one.ChannelID {
				t.Errorf("%s leads to %d, %v", name, found.ID, err)
			}
		}
		if _, err := replace(t, s, one.ChannelID, flowURL("b")); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "Choose that channel") {
			t.Errorf("the URL of another channel: %v", err)
		}
		third := save(t, s, someRule("third"), flowURL("a"))
		if found, err := s.ChannelOf(t.Context(), one.Channel.Fingerprint); err != nil || found.ID != third.ChannelID || third.ChannelID == one.ChannelID {
			t.Errorf("the former URL, given again: %d, %v", found.ID, err)
		}
	})
}

// A channel can go back to a webhook URL that it had, also where that is in a row that
// is only left for its deliveries.
func TestAURLCanBeReplacedAgainAndBack(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		gone := save(t, s, someRule("gone"), flowURL("d"))
		acceptMany(t, s, 2)
		if err := s.DeleteRule(t.Context(), ada, gone.ID, 0); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"b", "c", "a", "a", "d", "b"} {
			if _, err := replace(t, s, one.ChannelID, flowURL(name)); err != nil || urlOf(t, s, one.ChannelID) != flowURL(name) {
				t.Fatalf("to %s: %v", name, err)
			}
		}
		for _, name := range []string{"a", "b", "c", "d"} {
			if found, err := s.ChannelOf(t.Context(), fingerprintURL(flowURL(name))); err != nil || found.ID != one.ChannelID {
				t.Errorf("%s leads to %d, %v", name, found.ID, err)
			}
		}
		if again := save(t, s, someRule("gone"), flowURL("d")); again.ChannelID == one.ChannelID || urlOf(t, s, again.ChannelID) != flowURL("d") {
			t.Errorf("the URL of the deleted rule is on channel %d", again.ChannelID)
		}
	})
}

// What was under way to the former webhook URL says nothing of the new one: it closes
// and opens nothing, and only a 2xx ends the message.
func TestAnAnswerOfTheFormerURL(t *testing.T) {
	for _, c := range []struct {
		name          string
		state, want   notify.DeliveryState
		counts, aside bool
	}{
		{"refused", notify.Failed, notify.Waiting, false, false},
		{"a server error", notify.Waiting, notify.Waiting, true, true},
		{"taken", notify.Delivered, notify.Delivered, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				name, fence := hold(t, s)
				one := save(t, s, someRule("one"), flowURL("a"))
				acceptMany(t, s, 2)
				under := waiting(t, s)[:1]
				moved := 0
				s.OnChange(func([]*notify.Delivery) {}, func(int64) { moved++ })
				saved, err := replace(t, s, one.ChannelID, flowURL("b"))
				if err != nil {
					t.Fatal(err)
				}
				exec(t, s, `UPDATE notify_channels SET state = 'broken', reason = 'the new one'`)
				standing := one.Channel
				standing.GateStep, standing.GateReason, standing.GateUntil, standing.FailingSince = 3, "the former one", time.Now().Add(time.Hour), time.Now()
				told := moved
				result := &notify.Result{
					Deliveries: under, State: c.state, Counts: c.counts, Aside: c.aside, DueAt: time.Now().Add(time.Hour), Channel: &standing,
					Attempt: &work.Attempt{At: time.Now(), Status: 400}, Fingerprint: one.Channel.Fingerprint, Lease: name, Fence: fence,
				}
				if err := s.SaveResult(t.Context(), result); err != nil {
					t.Fatal(err)
				}
				now, _, err := s.Delivery(t.Context(), under[0].ID)
				if err != nil || now.State != c.want || now.Errors5xx != 0 || !now.DueAt.IsZero() || now.Attempts != 1 {
					t.Errorf("the message: %+v, %v", now, err)
				}
				channel, err := s.ChannelOf(t.Context(), saved.Fingerprint)
				if err != nil || channel.State != notify.Broken || channel.Reason != "the new one" || channel.GateStep != 0 || channel.GateReason != "" {
					t.Errorf("the channel: %+v, %v", channel.Channel, err)
				}
				if moved == told {
					t.Error("nothing reads the channel again")
				}
			})
		})
	}
}

// Of two who replace a webhook URL at once, from the same version, one is told of the
// other; the channel has one of the two URLs, whole.
func TestTwoReplaceAURLAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("start"))
		for round := range 8 {
			before, err := s.ChannelOf(t.Context(), fmt.Sprint(one.ChannelID))
			if err != nil {
				t.Fatal(err)
			}
			var both sync.WaitGroup
			errs := make([]error, 2)
			for i := range errs {
				both.Go(func() {
					_, errs[i] = s.SaveChannel(t.Context(), ada, one.ChannelID, notify.ChannelChange{
						ChannelDraft: notify.ChannelDraft{Version: before.Version, Format: notify.Auto}, URL: secret.New(flowURL(fmt.Sprint(round, "-", i))),
					}, anyone)
				})
			}
			both.Wait()
			first := 0
			if errs[0] != nil {
				first = 1
			}
			if errs[first] != nil || !fault.Is(errs[1-first], fault.Conflict) || !strings.Contains(errs[1-first].Error(), "ada changed webhookUrl") {
				t.Fatalf("round %d: %v", round, errs)
			}
			if got := urlOf(t, s, one.ChannelID); got != flowURL(fmt.Sprint(round, "-", first)) {
				t.Errorf("round %d: the URL is %s", round, got)
			}
		}
	})
}

// Of two who replace a webhook URL at once, only the one whose URL it becomes decides
// which waiting messages are left out.
func TestOnlyWhoReplacesAURLCancelsWhatWaits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("start"))
		acceptMany(t, s, 3)
		for round := range 8 {
			before, err := s.ChannelOf(t.Context(), fmt.Sprint(one.ChannelID))
			if err != nil {
				t.Fatal(err)
			}
			var both sync.WaitGroup
			errs := make([]error, 2)
			for i, which := range []notify.RetryMode{notify.RetryAll, notify.RetryNone} {
				both.Go(func() {
					_, errs[i] = s.SaveChannel(t.Context(), ada, one.ChannelID, notify.ChannelChange{
						ChannelDraft: notify.ChannelDraft{Version: before.Version, Format: notify.Auto},
						URL:          secret.New(flowURL(fmt.Sprint(round, "-", i))), Which: which,
					}, anyone)
				})
			}
			both.Wait()
			want := before.Waiting
			if errs[1] == nil {
				want = 0
			}
			if after, err := s.ChannelOf(t.Context(), before.UnderID()); err != nil || after.Waiting != want {
				t.Fatalf("round %d, %v: %d of %d messages wait, %v", round, errs, after.Waiting, before.Waiting, err)
			}
			accept(t, s, webhook(fmt.Sprint("round", round), *pushedTo("ATL", "canoe", "main", "ada")))
		}
	})
}

// A webhook URL that took a test message is known to work; one that did not is new.
func TestATestedURLIsKnownToWork(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		for i, tested := range []bool{true, false, true} {
			change := notify.ChannelChange{ChannelDraft: notify.ChannelDraft{Format: notify.Auto}, URL: secret.New(flowURL(fmt.Sprint(i))), Tested: tested}
			if saved, err := s.SaveChannel(t.Context(), ada, one.ChannelID, change, anyone); err != nil || saved.LastOKAt.IsZero() == tested {
				t.Errorf("tested %v: %v, %v", tested, saved.LastOKAt, err)
			}
		}
	})
}

// Messages are left out of a replacement by their age, and only where it is done.
func TestWhichMessagesGoToAReplacedURL(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		save(t, s, someRule("other"), flowURL("taken"))
		acceptMany(t, s, 4)
		exec(t, s, fmt.Sprintf(`UPDATE notify_deliveries SET created_at = 1, queued_at = 1 WHERE id = (SELECT min(id) FROM notify_deliveries WHERE channel_id = %d)`, one.ChannelID))
		for _, c := range []struct {
			url   string
			which notify.RetryMode
			want  int
		}{
			{"taken", notify.RetryNone, 4}, {"b", "", 4}, {"c", notify.RetryAll, 4}, {"taken", notify.RetryRecent, 4},
			{"d", notify.RetryRecent, 3}, {"e", notify.RetryRecent, 3}, {"e", notify.RetryNone, 0},
		} {
			change := notify.ChannelChange{ChannelDraft: notify.ChannelDraft{Format: notify.Auto}, URL: secret.New(flowURL(c.url)), Which: c.which}
			_, refused := s.SaveChannel(t.Context(), ada, one.ChannelID, change, anyone)
			now, err := s.ChannelOf(t.Context(), fmt.Sprint(one.ChannelID))
			if err != nil || fault.Is(refused, fault.Conflict) != (c.url == "taken") || now.Waiting != c.want {
				t.Errorf("to %s, %q: %v, and %d messages wait, want %d, %v", c.url, c.which, refused, now.Waiting, c.want, err)
			}
		}
	})
}

// What waits goes out in the format that it has for its rule after the webhook URL, or
// the format of the channel, changed; a rule with a format of its own keeps it.
func TestWhatWaitsFollowsTheFormatOfItsChannel(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		auto := save(t, s, someRule("auto"), flowURL("a"))
		own := someRule("own")
		own.Format = notify.Teams
		save(t, s, own, flowURL("a"))
		accept(t, s, webhook("first", *pushedTo("ATL", "canoe", "main", "ada")))
		formats := func() map[notify.Format]int {
			found := make(map[notify.Format]int)
			for _, d := range waiting(t, s) {
				found[d.Format]++
			}
			return found
		}
		if got := formats(); got[notify.Teams] != 1 || len(got) != 1 {
			t.Fatalf("two rules of one format: %v", got)
		}
		if _, err := replace(t, s, auto.ChannelID, "https://hooks.slack.com/services/T0/B0/secret"); err != nil {
			t.Fatal(err)
		}
		if got := formats(); got[notify.Teams] != 1 || got[notify.Slack] != 1 {
			t.Errorf("after the URL of another platform: %v", got)
		}
		accept(t, s, webhook("second", *pushedTo("ATL", "canoe", "main", "ada")))
		if got := formats(); got[notify.Teams] != 2 || got[notify.Slack] != 2 {
			t.Errorf("the next event: %v", got)
		}
		if _, err := s.SaveChannel(t.Context(), ada, auto.ChannelID, notify.ChannelChange{ChannelDraft: notify.ChannelDraft{Format: notify.Teams}}, anyone); err != nil {
			t.Fatal(err)
		}
		if got := formats(); got[notify.Slack] != 0 {
			t.Errorf("after the channel's format changed: %v", got)
		}
	})
}

// A channel that was named stays when its last rule goes, with its URL; one that a save
// made goes. A deleted one is gone for good, and cannot be chosen any more.
func TestWhichChannelsStay(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		for i, named := range []bool{true, false, true, false} {
			rule := save(t, s, someRule("rule"), flowURL(fmt.Sprint(i)))
			if named {
				change := notify.ChannelChange{ChannelDraft: notify.ChannelDraft{Name: "Releases", Format: notify.Auto}}
				if _, err := s.SaveChannel(t.Context(), ada, rule.ChannelID, change, anyone); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.DeleteChannel(t.Context(), ada, rule.ChannelID, 0, anyone); !fault.Is(err, fault.Conflict) {
				t.Errorf("deleted with a rule: %v", err)
			}
			if err := s.DeleteRule(t.Context(), ada, rule.ID, 0); err != nil {
				t.Fatal(err)
			}
			_, err := s.ChannelOf(t.Context(), fmt.Sprint(rule.ChannelID))
			if stays := err == nil; stays != named || (urlOf(t, s, rule.ChannelID) != "") != named {
				t.Errorf("named %v: %v", named, err)
			}
			if !named {
				continue
			}
			next := someRule("next")
			next.ChannelID = rule.ChannelID
			chosen := save(t, s, next, "")
			if chosen.ChannelID != rule.ChannelID || chosen.Channel.Named != "Releases" {
				t.Errorf("chosen: %+v", chosen.Channel)
			}
			if err := s.DeleteRule(t.Context(), ada, chosen.ID, 0); err != nil {
				t.Fatal(err)
			}
			if err := s.DeleteChannel(t.Context(), ada, rule.ChannelID, 0, anyone); err != nil || urlOf(t, s, rule.ChannelID) != "" {
				t.Errorf("deleted: %v", err)
			}
			if _, err := s.SaveRule(t.Context(), ada, next, ""); !fault.Is(err, fault.Invalid) {
				t.Errorf("a deleted channel is chosen: %v", err)
			}
			if again := save(t, s, someRule("again"), flowURL(fmt.Sprint(i))); again.Channel.Named != "" {
				t.Errorf("it is called %q as before", again.Channel.Named)
			}
		}
	})
}

// A channel that stays since a rule made it with a name, or since it was named, is one
// of the user's, and there is a limit for those that nothing sends to.
func TestWhoHasAChannelStayOwnsIt(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		who := notify.Actor{UserID: 9, Name: "eve"}
		makeOne := func(i int) (int64, error) {
			draft := someRule("rule")
			if i%2 == 0 {
				draft.Choice = &notify.ChannelChoice{Name: "Releases"}
			}
			rule, err := s.SaveRule(t.Context(), who, draft, flowURL(fmt.Sprint(i)))
			if err != nil {
				return 0, err
			}
			if i%2 == 1 {
				change := notify.ChannelChange{ChannelDraft: notify.ChannelDraft{Name: "Releases", Format: notify.Auto}}
				_, err = s.SaveChannel(t.Context(), who, rule.ChannelID, change, anyone)
			}
			return rule.ChannelID, errors.Join(err, s.DeleteRule(t.Context(), who, rule.ID, 0))
		}
		for i := range notify.MaxOwnChannels {
			id, err := makeOne(i)
			if err != nil {
				t.Fatal(err)
			}
			if c, err := s.ChannelOf(t.Context(), fmt.Sprint(id)); err != nil || c.OwnerID != who.UserID {
				t.Fatalf("channel %d is of the user %d, %v", i, c.OwnerID, err)
			}
		}
		for i := range 2 {
			if _, err := makeOne(notify.MaxOwnChannels + i); !fault.Is(err, fault.Conflict) {
				t.Errorf("one more than the limit: %v", err)
			}
		}
		save(t, s, someRule("unnamed"), flowURL("unnamed"))
	})
}
