package store

import (
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// A channel on which everything waits for quiet hours is tried at their end.
func TestNextTryOfAChannelInQuietHours(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		quiet := save(t, s, quietNow("nights"), flowURL("a"))
		next := func() (time.Time, bool, bool) {
			t.Helper()
			c, err := s.ChannelOf(t.Context(), quiet.Channel.Fingerprint)
			if err != nil {
				t.Fatal(err)
			}
			return c.NextTry(time.Now())
		}
		if at, held, ok := next(); ok {
			t.Errorf("nothing waits, and the next try is %v, held %v", at, held)
		}
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		if at, held, ok := next(); !ok || !held || time.Until(at) < 58*time.Minute {
			t.Errorf("held: %v, %v, %v", at, held, ok)
		}
		save(t, s, someRule("days"), flowURL("a"))
		accept(t, s, webhook("w2", *pushedTo("ATL", "kayak", "main", "ada")))
		if at, held, ok := next(); !ok || held || !at.IsZero() {
			t.Errorf("with one that is not held: %v, %v, %v", at, held, ok)
		}
	})
}

// A channel that is tried again by hand is not well before it takes what waits.
func TestARetriedChannelIsNotOpenYet(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		rule := save(t, s, someRule("one"), flowURL("a"))
		acceptMany(t, s, 1)
		c, _, err := s.Channel(t.Context(), rule.ChannelID)
		if err != nil {
			t.Fatal(err)
		}
		c.State, c.Reason, c.BrokenAt, c.Refused = notify.Broken, "HTTP 404", time.Now(), 3
		c.GateReason, c.FailingSince, c.GateUntil = "HTTP 404", time.Now(), time.Now().Add(time.Hour)
		broken := func(tx *db.Tx) error { return updateChannel(t.Context(), tx, &c) }
		if err := s.db.Write(t.Context(), broken); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RetryChannel(t.Context(), ada, rule.ChannelID, notify.RetryAll); err != nil {
			t.Fatal(err)
		}
		after, err := s.Rule(t.Context(), rule.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := after.Channel.Status(time.Now()); got.State != "waiting" || got.Reason != "HTTP 404" || !got.Until.IsZero() {
			t.Errorf("right after a retry: %+v", got)
		}
	})
}
