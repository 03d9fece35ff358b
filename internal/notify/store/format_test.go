package store

import (
	"testing"

	"outrigger/internal/notify"
)

const slackURL = "https://hooks.slack.com/services/T0000/B0000/signature-of-slack"

func formatOf(t *testing.T, s *Store, id int64) notify.Format {
	t.Helper()
	d, _, err := s.Delivery(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d.Format
}

// A chat platform refuses messages of another one's format, so what waits, or is
// sent again, takes that of the rule as it is now.
func TestWhatWaitsTakesTheFormatOfItsRule(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, s *Store, r *notify.Rule){
		"another URL":    func(t *testing.T, s *Store, r *notify.Rule) { save(t, s, *r, slackURL) },
		"another format": func(t *testing.T, s *Store, r *notify.Rule) { r.Format = notify.Slack; save(t, s, *r, "") },
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				one := save(t, s, someRule("one"), flowURL("a"))
				ids := acceptMany(t, s, 2)
				if f := formatOf(t, s, ids[0]); f != notify.Teams {
					t.Fatalf("it waits in the format %s", f)
				}
				if _, err := s.Cancel(t.Context(), ada, ids[1:]); err != nil {
					t.Fatal(err)
				}
				change(t, s, &one.Rule)
				if f := formatOf(t, s, ids[0]); f != notify.Slack {
					t.Errorf("it waits in the format %s", f)
				}
				if _, err := s.Redeliver(t.Context(), ada, ids[1:]); err != nil {
					t.Fatal(err)
				}
				if f := formatOf(t, s, ids[1]); f != notify.Slack {
					t.Errorf("redelivered, it is in the format %s", f)
				}
			})
		})
	}
}

// Rules that have one URL in two formats want a message in each; where they are
// given the same format, what waits of one stays as it is.
func TestRulesOfOneChannelWithTwoFormats(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		two := someRule("two")
		two.Format = notify.Slack
		one, other := save(t, s, someRule("one"), flowURL("a")), save(t, s, two, flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		formats := map[notify.Format]int64{}
		for _, d := range waiting(t, s) {
			formats[d.Format] = d.Rules[0]
		}
		if len(formats) != 2 || formats[notify.Teams] != one.ID || formats[notify.Slack] != other.ID {
			t.Errorf("messages by format: %v", formats)
		}
	})
}
