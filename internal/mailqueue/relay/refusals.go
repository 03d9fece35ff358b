package relay

import (
	"maps"
	"slices"
)

// inARow is how many refusals in a row are taken for those of one sender or
// recipient before a message of another one is tried: with fewer, a single odd
// message would hold up the sessions of all the others.
const inARow = 3

// refusals are those in a row since the smarthost last answered about a message
// alone. Senders and recipients that were refused are not tried again until all
// others had their turn.
type refusals struct {
	count        int
	sender       string // of the first
	recipient    string // at whose RCPT the first was; "": at none
	oneSender    bool   // all are of that sender
	oneRecipient bool   // all are at the RCPT of that recipient
	widened      bool   // there is no message of another sender to try

	senders    map[string]bool // refused at MAIL or at the message
	behind     map[string]bool // senders of messages that were refused at a RCPT
	recipients map[string]bool // refused at RCPT

	limited map[int64]bool // messages that a limit of the provider was the answer to
	tried   map[int64]bool // those of them in this round
}

func (f *refusals) add(j *job, one *pushback) {
	if f.count == 0 {
		f.sender, f.recipient = j.sender, one.recipient
		f.oneSender, f.oneRecipient = true, one.recipient != ""
	}
	f.count++
	f.oneSender = f.oneSender && j.sender == f.sender
	f.oneRecipient = f.oneRecipient && one.recipient == f.recipient
	f.widened = false
	if one.recipient == "" {
		f.senders = with(f.senders, j.sender)
	} else {
		f.behind = with(f.behind, j.sender)
		f.recipients = with(f.recipients, one.recipient)
	}
}

// addLimited notes a message that was answered with a limit of the provider, which
// holds for all.
func (f *refusals) addLimited(j *job) {
	f.count = max(f.count+1, inARow)
	f.oneSender, f.oneRecipient, f.widened = false, false, false
	f.senders = with(f.senders, j.sender)
	f.limited, f.tried = with(f.limited, j.id), with(f.tried, j.id)
}

// general reports whether no single sender or recipient explains them.
func (f *refusals) general() bool { return f.count > 0 && !f.oneSender && !f.oneRecipient }

func with[K comparable](set map[K]bool, s K) map[K]bool {
	if set == nil {
		set = make(map[K]bool)
	}
	set[s] = true
	return set
}

// seeking reports whether the next message must be one that allows returns true
// for.
func (f *refusals) seeking() bool { return f.count >= inARow }

// allows reports whether a message is one to try next: neither its sender nor a
// recipient was refused. What is refused at RCPT may be refused for the sender
// too, so one of another sender comes first, unless the recipient explains all.
func (f *refusals) allows(j *job) bool {
	if f.behind[j.sender] && !f.oneRecipient && !f.widened {
		return false
	}
	return !f.tried[j.id] && !f.senders[j.sender] && !slices.ContainsFunc(j.turn,
		func(n int) bool { return f.recipients[j.recipients[n].Address] })
}

// widen has allows be true for more messages; false: it cannot. At a limit, another
// message of the same sender is better than the same one.
func (f *refusals) widen() bool {
	if f.tried != nil && f.senders != nil {
		f.senders = nil
		return true
	}
	if f.widened || f.oneRecipient || len(f.behind) == 0 {
		return false
	}
	f.widened = true
	return true
}

// snapshot is what they are now.
func (f *refusals) snapshot() *refusals {
	now := *f
	now.senders, now.behind, now.recipients = maps.Clone(f.senders), maps.Clone(f.behind), maps.Clone(f.recipients)
	return &now
}

// nextRound starts over: every sender and recipient is tried once more.
func (f *refusals) nextRound() { f.senders, f.behind, f.recipients, f.tried = nil, nil, nil, nil }
