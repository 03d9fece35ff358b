package store

import (
	"testing"

	"outrigger/internal/secret"
)

// lose has the encrypted values of a place be as after outrigger secrets forget.
func lose(t *testing.T, s *Store, table, column string) {
	t.Helper()
	for _, p := range SealedPlaces() {
		if p.Table == table && p.Column == column {
			damage(t, s, `UPDATE `+p.Table+` SET `+p.Lost)
			return
		}
	}
	t.Fatalf("%s.%s is not among the encrypted places", table, column)
}

// A rule asks for a URL whose key was lost until it is entered, and not after that.
func TestALostURLIsEnteredAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		lose(t, s, "notify_channels", "url")
		lost, err := s.Rule(t.Context(), one.ID)
		if err != nil || lost.Channel.Reason == "" {
			t.Fatalf("the channel is %s, %q: %v", lost.Channel.State, lost.Channel.Reason, err)
		}
		saved := save(t, s, lost.Rule, flowURL("a"))
		if now := saved.Channel.Status(saved.UpdatedAt); now.State != "open" || now.Reason != "" {
			t.Errorf("the URL is there again, and the channel is %s: %q", now.State, now.Reason)
		}
		_, url, err := s.Channel(t.Context(), one.ChannelID)
		if err != nil || !url.Equal(secret.New(flowURL("a"))) {
			t.Errorf("the URL cannot be read: %v", err)
		}
	})
}
