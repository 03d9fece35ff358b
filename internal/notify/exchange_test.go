package notify

import (
	"fmt"
	"testing"

	"outrigger/internal/work"
)

// Headers are for those who may read the body, and what a digest sent for
// administrators: it may be about repositories of others.
func TestWhoReadsAnExchange(t *testing.T) {
	for _, c := range []struct {
		public                bool
		batch                 int64
		inside, administers   bool
		answer, sent          string
		withheld, keptFromHim bool
	}{
		{public: true, answer: "words [{Server x}]", sent: "{}"},
		{public: true, inside: true, administers: true, answer: "words [{Server x}]", sent: "{}"},
		{public: false, answer: " []", sent: "{}", withheld: true},
		{public: false, inside: true, administers: true, answer: "words [{Server x}]", sent: "{}"},
		{public: false, administers: true, answer: " []", sent: "{}", withheld: true}, // passed on to others
		{public: true, batch: 7, answer: "words [{Server x}]", keptFromHim: true},
		{public: true, batch: 7, inside: true, administers: true, answer: "words [{Server x}]", sent: "{}"},
	} {
		a := Attempt{
			Attempt:  work.Attempt{Status: 503, Answer: "words", Public: c.public},
			Exchange: Exchange{Headers: []Header{{"Server", "x"}}, Request: "{}", Batch: c.batch},
		}
		a.Show(c.inside, c.administers)
		if got := fmt.Sprint(a.Answer, " ", a.Headers); got != c.answer || a.Request != c.sent || a.Withheld != c.withheld || a.RequestWithheld != c.keptFromHim {
			t.Errorf("%+v: reads %s, %q, %v, %v", c, got, a.Request, a.Withheld, a.RequestWithheld)
		}
	}
	empty := Attempt{Attempt: work.Attempt{Status: 503}, Exchange: Exchange{Headers: []Header{{"Server", "x"}}}}
	if empty.Show(false, false); !empty.Withheld || empty.Headers != nil {
		t.Errorf("headers without a body: %+v", empty)
	}
}
