package outbox

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/notify"
	"outrigger/internal/notify/answer"
	"outrigger/internal/work"
)

// verdict says what an answer of a chat platform means for the message and
// its channel.
type verdict int

const (
	done   verdict = iota // taken
	wait                  // the channel's gate closes; the message keeps its place
	reject                // this message has failed; the next is tried
	broken                // the channel itself is wrong: asked again, and then broken
	paused                // our own proxy lets nothing through; everything waits
)

// outcome is a verdict with what people are told and how long to wait.
type outcome struct {
	verdict verdict
	reason  string          // one sentence, in the platform's words where it said any and everyone may read them
	inside  string          // the same with its words, or why there are none, where administrators alone may read them; "": reason is all
	status  int             // of the answer; 0: none came
	retry   time.Duration   // what the platform asked for; 0: it did not say
	headers []notify.Header // of an answer that did not take the message
}

// permanent400 are the error codes of a workflow that no retry mends.
// Source: the vendor's connector documentation and users' reports.
var permanent400 = []string{"WorkflowTriggerIsNotEnabled", "MissingApiVersionParameter"}

// judge is the one table of what answers mean. Exactly one of resp and err is
// given; body is the beginning of the answer's. public: everyone may read it.
func judge(resp *http.Response, body string, public bool, err error, now time.Time) outcome {
	if err != nil {
		o := outcome{verdict: judgeError(err), reason: err.Error()}
		if words := egress.Discreet(err); words != "" {
			o.reason, o.inside = words+"; an administrator can see why", o.reason
		}
		return o
	}
	o := judgeStatus(resp.StatusCode, resp.Header, body, now)
	o.status = resp.StatusCode
	if o.verdict == done {
		return o
	}
	said := answer.Sentence(o.status, body)
	if public || said == answer.Sentence(o.status, "") { // it said nothing
		o.reason = said + o.reason
		return o
	}
	o.reason, o.inside = answer.Withheld(o.status)+o.reason, said+o.reason
	return o
}

// after is the outcome with words in front of what the platform said.
func (o outcome) after(words string) outcome {
	o.reason = words + o.reason
	if o.inside != "" {
		o.inside = words + o.inside
	}
	return o
}

// judgeError is judge where no answer came.
func judgeError(err error) verdict {
	switch {
	case errors.Is(err, egress.ErrRefused):
		return broken
	case errors.Is(err, egress.ErrProxy):
		return paused
	}
	return wait
}

// judgeStatus is judge where an answer came; reason is what we add to the
// platform's words.
func judgeStatus(status int, header http.Header, body string, now time.Time) outcome {
	switch {
	case status >= 200 && status < 300:
		return outcome{verdict: done}
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500,
		// No proxy of ours is in the way: this is the platform's own, and must
		// not hold up other channels.
		status == http.StatusProxyAuthRequired:
		retry, _ := work.RetryAfter(header, now)
		return outcome{verdict: wait, retry: retry}
	case status >= 300 && status < 400:
		return outcome{verdict: broken, reason: " Redirects are not followed: give the address it points to."}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound,
		status == http.StatusMethodNotAllowed, status == http.StatusGone:
		return outcome{verdict: broken}
	case status == http.StatusBadRequest && containsAny(body, permanent400):
		return outcome{verdict: broken}
	case status < 200:
		return outcome{verdict: wait}
	}
	return outcome{verdict: reject}
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
