package relay

import (
	"fmt"
	"time"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtpclient"
	"outrigger/internal/work"
)

// retries is how long a recipient waits after each attempt that was deferred:
// soon at first, since most trouble is short; RFC 5321, 4.5.4.1, wants no more
// than a try every 30 min or so later on.
var retries = work.Backoff{Steps: []time.Duration{
	time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour,
}}

// verdict is what the smarthost's answers to one transaction mean.
type verdict struct {
	outcomes []outcome // one for each recipient of the transaction
	again    []int     // those of them to be sent to at once, in a session of their own
	pushback *pushback // nil: the smarthost answered about this message alone
}

// pushback is an answer that may be about every message as well as about this
// one: the session ended, the smarthost wants another name or password, or it
// defers the sender.
type pushback struct {
	recipient string // at whose RCPT; "": it is about the sender
	why       string // what the smarthost did, as Smarthost.Complain takes it
}

// judge is the one table of what answers mean for the recipients of a
// transaction, which are those of j at the places in turn.
func judge(j *job, turn []int, r *smtpclient.Result, now time.Time, giveUp time.Duration) verdict {
	v := verdict{outcomes: make([]outcome, len(turn)), pushback: pushbackOf(j, turn, r)}
	if r.Missing != "" {
		for i := range v.outcomes {
			v.outcomes[i] = outcome{
				state: mailqueue.Failed, counts: true, err: "The smarthost offers no " + r.Missing + ", which this message needs.",
			}
		}
		return v
	}
	closed := closedAt(r)
	accepted := r.Accepted()
	for i, n := range turn {
		to := &j.recipients[n]
		o := &v.outcomes[i]
		answer := about(r, i)
		if closed >= 0 && r.Recipients[i].Code == 0 {
			answer = r.Recipients[closed] // the words it ended with
		}
		o.status, o.answer = answer.Code, answer.String()
		switch {
		case closed >= 0 && r.Recipients[i].Code/100 == 2:
			v.again = append(v.again, i)
		case closed >= 0 && (i > closed || i == closed && accepted > 0),
			tooMany(r.Recipients[i]) && accepted > 0:
			o.state = mailqueue.Waiting // its turn is in the next transaction
		case answer.Code == 0:
			o.answer, o.err = "", "The smarthost did not answer: "+r.Reason()
			o.deferred(to, to.since(j.queuedAt), now, giveUp)
		case answer.Code/100 == 2:
			o.state, o.counts = mailqueue.Sent, true
		case isTemporary(answer.Code):
			o.deferred(to, to.since(j.queuedAt), now, giveUp)
		default:
			o.state, o.counts = mailqueue.Failed, true
		}
	}
	if len(v.again) > 0 {
		v.pushback = nil // it took some, and has enough of the others for now
	}
	return v
}

// closedAt is the recipient at whose RCPT the smarthost ended the session with
// 421; -1: at none. What it did not answer is not known to be refused.
func closedAt(r *smtpclient.Result) int {
	for i, one := range r.Recipients {
		if one.Code == 421 {
			return i
		}
	}
	return -1
}

// isTemporary reports whether an answer that is no success may be another one
// later. Besides 4xx those are the codes that want another name, password or
// encryption (RFC 4954, section 6, and RFC 3207, section 4): an administrator
// mends that, and no message is to blame.
func isTemporary(code int) bool {
	return code < 500 || code == 530 || code == 535 || code == 538
}

// tooMany reports whether an answer to RCPT is about how many recipients there
// are: RFC 5321, 4.5.3.1.10, has 452 for it, older servers 552; RFC 3463, 3.6,
// has X.5.3.
func tooMany(r smtpclient.Reply) bool {
	enhanced := r.Enhanced()
	return r.Code == 452 || r.Code == 552 || enhanced == "4.5.3" || enhanced == "5.5.3"
}

// about is the answer that decides for a recipient.
func about(r *smtpclient.Result, i int) smtpclient.Reply {
	switch {
	case r.Mail.Code/100 != 2:
		return r.Mail
	case r.Recipients[i].Code/100 != 2:
		return r.Recipients[i]
	case r.Data.Code != 0 && r.Data.Code != 354:
		return asRefusal(r.Data)
	}
	return r.End
}

// asRefusal reads an answer to DATA that lets no message follow: 250 at that
// point takes none.
func asRefusal(r smtpclient.Reply) smtpclient.Reply {
	if r.Code < 400 {
		r.Code = 451
	}
	return r
}

// pushbackOf is nil for answers that are about this message alone.
func pushbackOf(j *job, turn []int, r *smtpclient.Result) *pushback {
	switch {
	case r.Missing != "" || r.Mail.Code >= 500 && !isTemporary(r.Mail.Code):
		return nil
	case r.Mail.Code == 0:
		return &pushback{why: "did not answer MAIL: " + r.Reason()}
	case r.Mail.Code/100 != 2:
		return &pushback{why: "answered MAIL with " + r.Mail.String()}
	}
	for i, one := range r.Recipients {
		to := j.recipients[turn[i]].Address
		switch {
		case one.Code == 0:
			return &pushback{to, "did not answer RCPT: " + r.Reason()}
		case isAboutSession(one.Code):
			return &pushback{to, "answered RCPT with " + one.String()}
		}
	}
	last, what := r.End, "a message"
	if r.Data.Code != 354 && r.Data.Code != 0 {
		last, what = r.Data, "DATA"
	}
	switch {
	case isAboutSession(last.Code):
		return &pushback{why: "answered " + what + " with " + last.String()}
	case last.Code == 0 && r.Accepted() > 0:
		return &pushback{why: "did not answer " + what + ": " + r.Reason()}
	}
	return nil
}

// isAboutSession reports whether a code is about us as much as about a message.
func isAboutSession(code int) bool {
	return code == 421 || code >= 500 && isTemporary(code)
}

// deferred has a recipient wait, or gives them up.
func (o *outcome) deferred(to *recipient, since, now time.Time, giveUp time.Duration) {
	o.counts = true
	if now.Sub(since) >= giveUp {
		o.state = mailqueue.Failed
		return
	}
	o.state, o.delay = mailqueue.Waiting, retries.Delay(to.Attempts, nil)
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
