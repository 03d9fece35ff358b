package notify

import (
	"testing"
	"time"
)

// A late message says when its event was, also where the platform's body has no
// date, as that of a push of the cloud edition.
func TestAnEventWithoutADateHappenedWhenItCame(t *testing.T) {
	came, said := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 20, 11, 59, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		at   time.Time
		note string
		want time.Time
	}{
		"no date":             {want: came},
		"no date, and a note": {note: "A group could not be asked.", want: came},
		"a date":              {at: said, want: said},
		"a date, and a note":  {at: said, note: "A group could not be asked.", want: said},
	} {
		d := Delivery{CreatedAt: came, Note: c.note, Event: &Event{At: c.at}}
		e := d.Noted()
		if !e.At.Equal(c.want) {
			t.Errorf("%s: it was at %v, want %v", name, e.At, c.want)
		}
		if noted := len(e.Facts) == 1 && e.Facts[0] == (Fact{Name: NoteFact, Value: c.note}); noted != (c.note != "") {
			t.Errorf("%s: facts %v", name, e.Facts)
		}
		if !d.Event.At.Equal(c.at) || len(d.Event.Facts) != 0 {
			t.Errorf("%s: the delivery's own event became %+v", name, *d.Event)
		}
	}
}
