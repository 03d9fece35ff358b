package notify

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// SameBodyWithin is how long the same event key and body count as the same
// webhook: a project's hook and a repository's hook send one event under two
// request ids within seconds.
const SameBodyWithin = 10 * time.Minute

// sumKept is how much of its sum finds a body again: another one that agrees in
// 96 bits with a given one is not found in years.
const sumKept = 12

// Fingerprint is the same for the same body on a connection, and not on an earlier
// one of its name, which had been deleted. It begins with the time of what
// happened, so that those of new webhooks are side by side: as the key of an
// index they write to few of its pages.
func (r *Receipt) Fingerprint() []byte {
	var at int64
	if len(r.Events) > 0 {
		at = max(0, r.Events[0].At.UnixMilli())
	}
	of := append(make([]byte, 0, 128), r.Connection...) // most names leave room for the rest
	of = binary.BigEndian.AppendUint64(append(of, 0), uint64(r.connectedAt.UnixMicro()))
	sum := sha256.Sum256(append(of, r.Digest...))
	f := binary.BigEndian.AppendUint64(make([]byte, 0, 8+sumKept), uint64(at))
	return append(f, sum[:sumKept]...)
}

// Seen is a webhook that had the same fingerprint.
type Seen struct {
	Key        string
	RequestID  string // empty: it had none
	ReceivedAt time.Time
	Withheld   bool
}

// Repeats reports whether the webhook is that one again. A request id is not
// signed: it names this body only, or what one hook sends would keep out what
// another one does. What is withheld does not keep the same from coming in by a
// wider hook.
func (r *Receipt) Repeats(s Seen) bool {
	if r.RequestID != "" && r.RequestID == s.RequestID {
		return true
	}
	return !r.withheld && !s.Withheld && r.Key == s.Key && !s.ReceivedAt.Before(r.ReceivedAt.Add(-SameBodyWithin))
}
