package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// logIDs lists what a filter lets through, by request ids, the newest first.
func logIDs(t *testing.T, s *Store, f notify.EventFilter) string {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	page, err := s.ListEvents(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, e := range page.Events {
		keys = append(keys, e.Key)
	}
	return strings.Join(keys, " ")
}

// fillLog takes one event of each fate, and some of other places: their keys
// name them.
func fillLog(t *testing.T, s *Store) {
	t.Helper()
	rule := someRule("one")
	rule.ProjectKey = "ATL"
	save(t, s, rule, flowURL("a"))
	of := func(key string, at time.Time, outcome notify.Outcome, body string, events ...notify.Event) {
		r := webhook(key, events...)
		r.Key, r.ReceivedAt, r.Outcome, r.Digest = key, at, outcome, []byte(key)
		if body != "" {
			r.Reason, r.Body = "no such member", []byte(body)
		}
		accept(t, s, r)
	}
	hour := func(n int) time.Time { return time.Date(2026, 5, 4, n, 0, 0, 0, time.UTC) }
	of("taken", hour(1), notify.Understood, "", *pushedTo("ATL", "canoe", "main", "ada"))
	tag := *pushedTo("ATL", "kayak", "v1", "ada")
	tag.Types = []notify.EventType{notify.TagCreated}
	of("tagged", hour(2), notify.Understood, "", tag)
	of("silent", hour(3), notify.Silent, "")
	of("unknown", hour(4), notify.UnknownKey, "")
	of("garbled", hour(5), notify.Unreadable, `{"a":"ä"}`)
	of("foreign", hour(6), notify.Understood, "", *pushedTo("PAC", "canoe", "main", "ada"))
}

func TestTheLogIsFiltered(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		fillLog(t, s)
		hour := func(n int) time.Time { return time.Date(2026, 5, 4, n, 0, 0, 0, time.UTC) }
		at := func(project, repository string) identity.Resource {
			return identity.Resource{Connection: "dc", Project: project, Repository: repository}
		}
		for _, c := range []struct {
			name string
			f    notify.EventFilter
			want string
		}{
			{"everything", notify.EventFilter{}, "foreign garbled unknown silent tagged taken"},
			{"a connection", notify.EventFilter{Connection: "dc"}, "foreign garbled unknown silent tagged taken"},
			{"another connection", notify.EventFilter{Connection: "other"}, ""},
			{"a project, without case", notify.EventFilter{Project: "atl"}, "tagged taken"},
			{"a repository, without case", notify.EventFilter{Project: "Atl", Repository: "CANOE"}, "taken"},
			{"a repository of every project", notify.EventFilter{Repository: "canoe"}, "foreign taken"},
			{"taken", notify.EventFilter{Fate: notify.EventTaken}, "taken"},
			{"not taken", notify.EventFilter{Fate: notify.EventNotTaken}, "foreign tagged"},
			{"silent", notify.EventFilter{Fate: notify.EventSilent}, "silent"},
			{"unknown", notify.EventFilter{Fate: notify.EventUnknown}, "unknown"},
			{"not understood", notify.EventFilter{Fate: notify.EventNotUnderstood}, "garbled"},
			{"a type", notify.EventFilter{Types: notify.NewTypeSet(notify.TagCreated)}, "tagged"},
			{"a type and a project", notify.EventFilter{Types: notify.NewTypeSet(notify.TagCreated), Project: "PAC"}, ""},
			{"since", notify.EventFilter{Since: hour(5)}, "foreign garbled"},
			{"until", notify.EventFilter{Until: hour(2)}, "taken"},
			{"between", notify.EventFilter{Since: hour(2), Until: hour(4)}, "silent tagged"},
			{"the places of a project's administrator", notify.EventFilter{Places: []identity.Resource{at("atl", "")}}, "tagged taken"},
			{"the places of repositories' administrator", notify.EventFilter{Places: []identity.Resource{at("ATL", "Kayak"), at("pac", "canoe")}}, "foreign tagged"},
			{"both", notify.EventFilter{Places: []identity.Resource{at("PAC", ""), at("ATL", "canoe")}}, "foreign taken"},
			{"no places", notify.EventFilter{Places: []identity.Resource{}}, ""},
			{"text that a database does not take", notify.EventFilter{Connection: "\x00", Project: "\xff", Repository: "\x00"}, ""},
		} {
			if got := logIDs(t, s, c.f); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	})
}

func TestTheLogIsReadInPages(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		fillLog(t, s)
		var got []string
		f := notify.EventFilter{Limit: 4}
		for range 3 {
			page, err := s.ListEvents(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(len(page.Events), page.Next > 0))
			if f.Before = page.Next; f.Before == 0 {
				break
			}
		}
		if fmt.Sprint(got) != "[4 true 2 false]" {
			t.Errorf("pages %v", got)
		}
	})
}

func TestAnEventOfTheLog(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("one"), flowURL("a"))
		save(t, s, someRule("two"), flowURL("a"))
		save(t, s, someRule("three"), flowURL("b"))
		accept(t, s, webhook("w0", *pushedTo("ATL", "canoe", "main", "ada")))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada"), *pushedTo("ATL", "canoe", "next", "ada")))
		for _, d := range waiting(t, s) {
			e, err := s.LoggedEvent(t.Context(), d.EventID)
			if err != nil {
				t.Fatal(err)
			}
			if e.Rules != 3 || e.Deliveries != 2 || e.FirstDelivery > d.ID || e.FirstDelivery < d.ID-1 || e.Event.Branch != d.Event.Branch {
				t.Errorf("event of delivery %d: %+v", d.ID, e)
			}
			if e.Generation != s.Rules().Generation || e.Hook != "" || e.Key != "repo:refs_changed" || e.Fate() != notify.EventTaken {
				t.Errorf("event %+v", e)
			}
		}
		if _, err := s.LoggedEvent(t.Context(), 999); !fault.Is(err, fault.NotFound) {
			t.Errorf("an event that is not there: %v", err)
		}
	})
}

func TestTheBodyOfWhatWasNotUnderstood(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		fillLog(t, s)
		page, err := s.ListEvents(t.Context(), notify.EventFilter{Fate: notify.EventNotUnderstood, Limit: 1})
		if err != nil || len(page.Events) != 1 {
			t.Fatal(page, err)
		}
		e := page.Events[0]
		if e.BodySize != 10 || e.Reason != "no such member" || e.Event != nil {
			t.Errorf("event %+v", e)
		}
		for max, want := range map[int]string{100: `{"a":"ä"}`, 7: `{"a":"` + "\xc3"} {
			if body, err := s.EventBody(t.Context(), e.ID, max); err != nil || string(body) != want {
				t.Errorf("the first %d bytes: %q, %v", max, body, err)
			}
		}
		if _, err := s.EventBody(t.Context(), e.ID-1, 10); !fault.Is(err, fault.NotFound) {
			t.Errorf("the body of an event that has none: %v", err)
		}
	})
}
