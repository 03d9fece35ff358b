package identity

import (
	"encoding/binary"
	"net/netip"
	"time"

	"outrigger/internal/secret"
)

const (
	firstPause   = 30 * time.Second
	longestPause = 15 * time.Minute
	// forgiveAfter is how long no attempt may fail for the pauses to begin from
	// the shortest again, and how long failures are stored.
	forgiveAfter = time.Hour
	// exemptFor is how long a name that signed in from an address is exempt from
	// what others do there and elsewhere, so that the address of a proxy, or an
	// attack on the account, locks its owner out of nothing.
	exemptFor = 30 * 24 * time.Hour
)

// failureLimit is how many sign-ins may fail in a time before a pause.
type failureLimit struct {
	failures int
	within   time.Duration
}

// What is counted, and how much of it is too much. An account that is attacked
// from everywhere, which is a hundred failures in an hour, is not paused as a whole:
// that would lock its owner out. Each address has one guess at it between pauses.
func pairLimit() failureLimit     { return failureLimit{10, 5 * time.Minute} }
func attackedLimit() failureLimit { return failureLimit{1, 5 * time.Minute} } // of a pair then
func addressLimit() failureLimit  { return failureLimit{30, 5 * time.Minute} }
func accountLimit() failureLimit  { return failureLimit{100, time.Hour} }

// attempt is an account as one address tries to enter it.
type attempt struct{ account, address string }

// attemptOf counts the addresses of one IPv6 network as one, since a host has
// 2^64 of them.
func attemptOf(account, address string) attempt {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() {
		if network, err := a.Prefix(64); err == nil {
			address = network.String()
		}
	}
	return attempt{account, address}
}

// counter is one of the counts that an attempt belongs to.
type counter struct {
	key   []byte
	limit failureLimit
}

// The places of the counters of an attempt.
const (
	ofAccount = iota
	ofPair
	ofAddress
)

// counters are those of the account, of the pair and of the address, in this
// order.
func (d attempt) counters() [3]counter {
	return [3]counter{
		{secret.Fingerprint("account\x00" + d.account), accountLimit()},
		{secret.Fingerprint("pair\x00" + d.account + "\x00" + d.address), pairLimit()},
		{secret.Fingerprint("address\x00" + d.address), addressLimit()},
	}
}

// failures is what is known of a counter.
type failures struct {
	at     []time.Time // the last ones, as many as the limit has
	until  time.Time   // no attempt before
	pauses int         // how often there was one
}

// add counts a failure. The one that reaches the limit begins a pause; after
// that each does, for twice as long as the one before.
func (f *failures) add(now time.Time, l failureLimit) {
	if len(f.at) > 0 && now.Sub(f.last()) > forgiveAfter {
		*f = failures{}
	}
	f.at = append(f.at, now)
	f.at = f.at[max(0, len(f.at)-l.failures):]
	if f.pauses == 0 && (len(f.at) < l.failures || now.Sub(f.at[0]) > l.within) {
		return
	}
	pause := longestPause
	if f.pauses < 5 { // 30 s doubled five times is above the longest
		pause = firstPause << f.pauses
	}
	f.pauses++
	f.until = now.Add(pause)
}

func (f *failures) last() time.Time { return f.at[len(f.at)-1] }

// encodeTimes returns times as microseconds, 8 bytes each.
func encodeTimes(times []time.Time) []byte {
	b := make([]byte, 0, 8*len(times))
	for _, t := range times {
		b = binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro()))
	}
	return b
}

func decodeTimes(b []byte) (times []time.Time) {
	for ; len(b) >= 8; b = b[8:] {
		times = append(times, time.UnixMicro(int64(binary.BigEndian.Uint64(b))))
	}
	return times
}
