package hook

import (
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

// A webhook is acknowledged with the id of its event, and one that came in before
// with the id of the event that it was then.
func TestAnAnswerNamesTheEvent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, 0)
		key := secret.New(hookSecret)
		push, silent := []byte(`{"eventKey":"push"}`), []byte(`{"eventKey":"silent"}`)
		for _, c := range []struct {
			id, event string
			body      []byte
			want      string
			stored    string
		}{
			{"1", "push", push, "", "1"},
			{"2", "silent", silent, "", "2"},
			{"1", "push", push, "1", ""}, // the platform sends it again
			{"3", "push", push, "1", ""}, // another hook of the platform sends it
			{"4", "silent", silent, "2", ""},
		} {
			w := s.post("dc", c.event, Sign(c.body, key), c.id, c.body)
			if got := w.Header().Get(DuplicateHeader); w.Code != 202 || got != c.want {
				t.Errorf("%s with id %s: %d, duplicate of %q, want %q", c.event, c.id, w.Code, got, c.want)
			}
			if got := w.Header().Get(EventHeader); got != c.stored {
				t.Errorf("%s with id %s: stored as %q, want %q", c.event, c.id, got, c.stored)
			}
		}
	}, migrations...)
}
