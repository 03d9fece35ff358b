package outbox

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// What a platform asks for takes the place of the gate's first step of 5 s,
// in each form that it may be written in and with each status that closes the
// gate: nothing is sent before it is over, and then at once.
func TestRetryAfterInEveryForm(t *testing.T) {
	for _, c := range []struct {
		name, header string
		wait         time.Duration
	}{
		{"absent", "", 5 * time.Second},
		{"seconds", "17", 17 * time.Second},
		{"a fraction", "1.5", 1500 * time.Millisecond},
		{"zero counts as a second", "0", time.Second},
		{"a date", "date", 90 * time.Second},
		{"a date that is over counts as a second", "past", time.Second},
		{"a whole day", "86400", 24 * time.Hour},
		{"above a day is a day", "86401", 24 * time.Hour},
		{"no number and no date", "soon", 5 * time.Second},
		{"negative", "-5", 5 * time.Second},
	} {
		for _, status := range []int{408, 425, 429, 500, 503, 599} {
			t.Run(fmt.Sprintf("%d %s", status, c.name), func(t *testing.T) {
				run(t, func(w *world) {
					header := c.header
					switch header {
					case "date":
						header = time.Now().Add(c.wait).UTC().Format(http.TimeFormat)
					case "past":
						header = time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
					}
					var pairs []string
					if header != "" {
						pairs = []string{"Retry-After", header}
					}
					w.answers(status, "", pairs...)
					w.add(0, "1", "2")
					w.expect(t, 0, "c0/1 at 0s")
					w.answers(202, "")
					w.expect(t, c.wait-time.Millisecond)
					again := c.wait.String()
					w.expect(t, 5*time.Second, "c0/1 at "+again, "c0/2 at "+again)
				})
			})
		}
	}
}
