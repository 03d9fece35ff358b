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
	count      int
	first      string // sender or recipient that the first of them is about
	general    bool   // others are refused too
	senders    map[string]bool
	recipients map[string]bool
}

func (f *refusals) add(j *job, one *pushback) {
	f.count++
	about := "from " + j.sender
	if one.recipient != "" {
		about = "to " + one.recipient
	}
	if f.count == 1 {
		f.first = about
	}
	f.general = f.general || about != f.first
	if one.recipient == "" {
		f.senders = with(f.senders, j.sender)
	} else {
		f.recipients = with(f.recipients, one.recipient)
	}
}

func with(set map[string]bool, s string) map[string]bool {
	if set == nil {
		set = make(map[string]bool)
	}
	set[s] = true
	return set
}

// seeking reports whether the next message must be one that allows returns true
// for.
func (f *refusals) seeking() bool { return f.count >= inARow }

// allows reports whether neither the sender nor a recipient of a message was
// refused.
func (f *refusals) allows(j *job) bool {
	return !f.senders[j.sender] && !slices.ContainsFunc(j.turn, func(n int) bool { return f.recipients[j.recipients[n].Address] })
}

// snapshot is what they are now.
func (f *refusals) snapshot() *refusals {
	now := *f
	now.senders, now.recipients = maps.Clone(f.senders), maps.Clone(f.recipients)
	return &now
}

// nextRound starts over: every sender and recipient is tried once more.
func (f *refusals) nextRound() { f.senders, f.recipients = nil, nil }
