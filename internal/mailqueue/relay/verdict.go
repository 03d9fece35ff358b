package relay

import (
	"fmt"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/work"
)

const (
	// maxAttempts is the host application's own rule: a message that was sent
	// in vain more often is in its error queue.
	maxAttempts = 10

	// maxAge is when a message that is always deferred is given up: RFC 5321,
	// 4.5.4.1, wants at least 4 to 5 days.
	maxAge = 5 * 24 * time.Hour
)

// retries is how long a recipient waits after each attempt that was deferred.
var retries = work.Backoff{Steps: []time.Duration{
	time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
}}

// judge is the one table of what answers mean: for each recipient of a job, or
// why sending pauses and no message is to blame.
func judge(j *job, r *replies, now time.Time) (outcomes []outcome, pause string) {
	outcomes = make([]outcome, len(j.turn))
	switch {
	case r.missing != "":
		for i := range outcomes {
			outcomes[i] = outcome{state: mailqueue.Failed, counts: true, err: "The smarthost offers no " + r.missing + ", which this message needs."}
		}
		return outcomes, ""
	case r.mail.code == 0:
		return nil, "did not answer MAIL: " + plain(r.err)
	case r.mail.code == 421, isAboutUs(r.mail.code):
		return nil, "answered MAIL with " + r.mail.String()
	}
	accepted := r.accepted()
	for i, n := range j.turn {
		to := &j.recipients[n]
		o := &outcomes[i]
		switch answer := r.about(i); {
		case answer.code == 0:
			o.err = "The smarthost did not answer: " + r.why()
			o.deferred(to, since(j, to), now)
		case answer.code/100 == 2:
			o.state, o.counts, o.status, o.answer = mailqueue.Sent, true, answer.code, answer.String()
		case r.recipients[i].code == 452 && accepted > 0:
			// It takes no more recipients at a time: RFC 5321, 4.5.3.1.10.
			*o = outcome{state: mailqueue.Waiting, answer: answer.String()}
		case answer.code >= 500:
			*o = outcome{state: mailqueue.Failed, counts: true, status: answer.code, answer: answer.String()}
		default:
			o.status, o.answer = answer.code, answer.String()
			o.deferred(to, since(j, to), now)
		}
	}
	return outcomes, ""
}

// isAboutUs tells whether a code says that the smarthost wants another name,
// password or encryption: RFC 4954, section 6, and RFC 3207, section 4.
func isAboutUs(code int) bool { return code == 530 || code == 534 || code == 535 || code == 538 }

// about is the answer that decides for a recipient.
func (r *replies) about(i int) reply {
	switch {
	case r.mail.code/100 != 2:
		return r.mail
	case r.recipients[i].code/100 != 2:
		return r.recipients[i]
	case r.data.code != 0 && r.data.code != 354:
		return r.data.asRefusal()
	}
	return r.end
}

// asRefusal reads an answer to DATA that lets no message follow: 250 at that
// point takes none.
func (r reply) asRefusal() reply {
	if r.code < 400 {
		r.code = 451
	}
	return r
}

func (r *replies) why() string {
	if r.err == nil {
		return "the conversation ended"
	}
	return plain(r.err)
}

// deferred has a recipient wait, or gives him up.
func (o *outcome) deferred(to *recipient, since, now time.Time) {
	attempts := to.Attempts + 1
	o.counts = true
	if attempts > maxAttempts || now.Sub(since) >= maxAge {
		o.state = mailqueue.Failed
		return
	}
	o.state, o.delay = mailqueue.Waiting, retries.Delay(attempts-1, nil)
}

// since is when a recipient began to wait.
func since(j *job, to *recipient) time.Time {
	if to.Since != 0 {
		return db.Time(to.Since)
	}
	return j.queuedAt
}

// unreadable is the outcome of a message whose stored body cannot be read: it
// fails alone.
func unreadable(j *job, err error) []outcome {
	outcomes := make([]outcome, len(j.turn))
	for i := range outcomes {
		outcomes[i] = outcome{state: mailqueue.Failed, counts: true, err: fmt.Sprintf("The stored message cannot be read: %v", err)}
	}
	return outcomes
}
