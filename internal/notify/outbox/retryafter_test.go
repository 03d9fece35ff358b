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

// A platform that asks for a moment each time is asked ever more rarely all the
// same: from the sixth refusal in a row on, the step's rest is the least.
func TestRetryAfterIsNotObeyedForEver(t *testing.T) {
	for _, status := range []int{429, 408, 425} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			run(t, func(w *world) {
				w.answers(status, "", "Retry-After", "1.5")
				w.add(0, "1", "2")
				w.add(1, "other")
				w.expect(t, 10*time.Second,
					"c0/1 at 0s", "c0/1 at 1.5s", "c0/1 at 3s", "c0/1 at 4.5s", "c0/1 at 6s", "c0/1 at 7.5s",
					"c1/other at 0s", "c1/other at 1.5s", "c1/other at 3s", "c1/other at 4.5s", "c1/other at 6s", "c1/other at 7.5s")
				w.expect(t, time.Hour, "c0/1 at 1h0m7.5s", "c1/other at 1h0m7.5s")
				w.answers(status, "", "Retry-After", "7200") // longer than the step
				w.expect(t, time.Hour, "c0/1 at 2h0m7.5s", "c1/other at 2h0m7.5s")
				w.answers(202, "")
				w.expect(t, 2*time.Hour, "c0/1 at 4h0m7.5s", "c0/2 at 4h0m7.5s", "c1/other at 4h0m7.5s")
				w.answers(status, "", "Retry-After", "1.5") // from the start again
				w.add(0, "3")
				w.expect(t, 2*time.Second, "c0/3 at 4h0m10s", "c0/3 at 4h0m11.5s")
			})
		})
	}
}

// Server errors are of the message or of the platform; with a Retry-After in them
// too, a platform that is down is not asked a thousand times.
func TestRetryAfterOfServerErrorsIsNotObeyedForEver(t *testing.T) {
	run(t, func(w *world) {
		w.answers(503, "", "Retry-After", "1.5")
		w.add(0, "1", "2", "3", "4")
		pass(24 * time.Hour)
		w.mu.Lock()
		defer w.mu.Unlock()
		if n := len(w.sent); n > 60 {
			t.Errorf("asked %d times in a day", n)
		}
	})
}
