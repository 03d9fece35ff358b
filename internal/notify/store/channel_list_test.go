package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// saveChannels saves rules on n channels, of which every third is broken and
// every third fails, and returns the fingerprints as a list should have them.
func saveChannels(t *testing.T, s *Store, n int) (want []string) {
	t.Helper()
	ranked := make([][]string, firstRank)
	for i := range n {
		rule := save(t, s, someRule(fmt.Sprintf("rule %d", i)), flowURL(fmt.Sprintf("c%02d", i)))
		c := rule.Channel
		switch i % 3 {
		case 1:
			c.State, c.BrokenAt = notify.Broken, time.Now()
		case 2:
			c.FailingSince = time.Now()
		}
		if err := s.db.Write(t.Context(), func(tx *db.Tx) error { return updateChannel(t.Context(), tx, &c) }); err != nil {
			t.Fatal(err)
		}
		ranked[c.Rank()] = append(ranked[c.Rank()], c.Fingerprint)
	}
	slices.Reverse(ranked)
	return slices.Concat(ranked...)
}

func TestPagesOfChannels(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		want := saveChannels(t, s, 7)
		unused := save(t, s, someRule("unused"), flowURL("unused"))
		if err := s.DeleteRule(t.Context(), ada, unused.ID, 0); err != nil {
			t.Fatal(err)
		}
		for limit := 1; limit <= len(want)+1; limit++ {
			var got []string
			page := notify.ChannelPage{Limit: limit, Visible: func(*notify.ChannelInfo) bool { return true }}
			for {
				found, err := s.ListChannels(t.Context(), page)
				if err != nil {
					t.Fatal(err)
				}
				for i := range found {
					c := &found[i]
					got = append(got, c.Fingerprint)
					if len(c.Rules) != 1 || c.Rules[0].ChannelName != c.Called() {
						t.Errorf("channel %s has the rules %+v", c.Fingerprint, c.Rules)
					}
					page.AfterRank, page.AfterID = c.Rank(), c.ID
				}
				if len(found) < limit {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("in pages of %d: %v, not %v", limit, got, want)
			}
		}
	})
}

// Those in trouble are listed by themselves, a page at a time too.
func TestChannelsInTrouble(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		want := saveChannels(t, s, 7)[:4] // every third is open
		for limit := 1; limit <= len(want)+1; limit++ {
			found, err := s.ListChannels(t.Context(), notify.ChannelPage{Limit: limit, InTrouble: true, Visible: func(*notify.ChannelInfo) bool { return true }})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range found {
				got = append(got, found[i].Fingerprint)
			}
			if !slices.Equal(got, want[:min(limit, len(want))]) {
				t.Errorf("%d of those in trouble are %v, not the first of %v", limit, got, want)
			}
		}
	})
}

// A page takes as long with 10,000 channels as with a few: it sorts none but
// those in trouble, and finds these by an index.
func TestAPageOfChannelsReadsNoOther(t *testing.T) {
	s := newSQLiteStore(t)
	if got := queryPlan(t, s, untroubledPage, "", "%%", 0, 51); strings.Contains(got, "TEMP B-TREE") {
		t.Errorf("those without trouble are sorted:\n%s", got)
	}
	if got := queryPlan(t, s, troubledPage, "", "%%", firstRank, 0, 51); !strings.Contains(got, "notify_channels_trouble") {
		t.Errorf("those in trouble are looked for among all:\n%s", got)
	}
	if got := queryPlan(t, s, "SELECT count(*)"+troubledWhere, 0); !strings.Contains(got, "notify_channels_trouble") {
		t.Errorf("the overview looks for those in trouble among all:\n%s", got)
	}
}

func TestAListOfChannelsCountsWhatWaits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("one"), flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		for uncounted, want := range map[bool]int{false: 1, true: 0} {
			found, err := s.ListChannels(t.Context(), notify.ChannelPage{Limit: 10, Uncounted: uncounted, Visible: func(*notify.ChannelInfo) bool { return true }})
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != 1 || found[0].Waiting != want {
				t.Errorf("uncounted %t: %+v", uncounted, found)
			}
		}
	})
}

// A list counts what waits on a channel so far and no further; the channel itself
// has all, and so has a list where more than that is held by quiet hours.
func TestAListOfChannelsCountsSoFar(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		save(t, s, someRule("one"), flowURL("a"))
		events := make([]notify.Event, 0, notify.MaxListed+3)
		for range cap(events) {
			events = append(events, *pushedTo("ATL", "canoe", "main", "ada"))
		}
		accept(t, s, webhook("w1", events...))
		waits := func(inList, held int) {
			t.Helper()
			list, err := s.ListChannels(ctx, notify.ChannelPage{Limit: 10, Visible: func(*notify.ChannelInfo) bool { return true }})
			if err != nil || len(list) != 1 || list[0].Waiting != inList || list[0].Held != held {
				t.Errorf("the list has %+v, %v; want %d waiting, %d held", list, err, inList, held)
			}
			one, err := s.ChannelOf(ctx, list[0].Fingerprint)
			if err != nil || one.Waiting != len(events) {
				t.Errorf("%d wait, want %d: %v", one.Waiting, len(events), err)
			}
		}
		waits(notify.MaxListed, 0)
		if err := s.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE notify_deliveries SET held_until = $1 WHERE id > (SELECT min(id) FROM notify_deliveries)`, db.Micros(tx.Now().Add(time.Hour)))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		waits(len(events), len(events)-1)
	})
}

// What waits on channels that refused it is counted until these are in trouble, and
// without what quiet hours hold.
func TestWhatIsTriedAgainIsCounted(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		var rules []notify.RuleInfo
		for i := range 4 {
			rules = append(rules, save(t, s, someRule(fmt.Sprint("rule ", i)), flowURL(fmt.Sprint(i))))
		}
		acceptMany(t, s, 3)
		summary := func() notify.Retrying {
			t.Helper()
			sum, err := s.Summary(t.Context(), time.Now().Add(-time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			return sum.Retrying
		}
		if got := summary(); got != (notify.Retrying{}) {
			t.Errorf("before any refusal: %+v", got)
		}
		now := time.Now().UTC().Truncate(time.Microsecond)
		refuse := func(i int, since time.Duration, until time.Duration) {
			exec(t, s, fmt.Sprintf(`UPDATE notify_channels SET failing_since = %d, gate_step = 1, gate_until = %d WHERE id = %d`,
				db.Micros(now.Add(-since)), db.Micros(now.Add(until)), rules[i].ChannelID))
		}
		refuse(0, time.Second, 30*time.Second)
		refuse(1, 2*time.Minute, 2*time.Minute)
		refuse(2, 2*notify.TroubleAfter, time.Second)
		if got := summary(); got.Channels != 2 || got.Messages != 6 || !got.Next.Equal(now.Add(30*time.Second)) {
			t.Errorf("after two refusals: %+v", got)
		}
		exec(t, s, fmt.Sprintf(`UPDATE notify_deliveries SET held_until = %d WHERE channel_id = %d`, db.Micros(now.Add(time.Hour)), rules[0].ChannelID))
		if got := summary(); got.Channels != 1 || got.Messages != 3 || !got.Next.Equal(now.Add(2*time.Minute)) {
			t.Errorf("with quiet hours on one channel: %+v", got)
		}
		exec(t, s, fmt.Sprintf(`UPDATE notify_channels SET state = 'broken' WHERE id = %d`, rules[1].ChannelID))
		if got := summary(); got != (notify.Retrying{}) {
			t.Errorf("with the other one broken: %+v", got)
		}
	})
}
