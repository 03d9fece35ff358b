package notify

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// Fingerprints are in the order of their events, so that an index of them grows at
// its end.
func TestFingerprintsFollowTime(t *testing.T) {
	began := time.Date(2026, 11, 22, 19, 0, 0, 0, time.UTC)
	var all [][]byte
	for i, at := range []time.Time{{}, time.Unix(-5, 0), began, began.Add(time.Second), began.Add(24 * time.Hour), began.AddDate(100, 0, 0)} {
		r := &Receipt{Digest: bytes.Repeat([]byte{byte(0xf0 - i)}, 32), Events: []Event{{At: at}, {At: began}}}
		f := r.Fingerprint()
		if len(f) != len((&Receipt{}).Fingerprint()) {
			t.Errorf("the fingerprint of %s has %d bytes", at, len(f))
		}
		if i != 1 { // before 1970 there is no order, only no failure
			all = append(all, f)
		}
	}
	if !slices.IsSortedFunc(all, bytes.Compare) {
		t.Errorf("not in order: %x", all)
	}
}

func TestFingerprintIsTheBodys(t *testing.T) {
	at := time.Date(2026, 11, 22, 19, 0, 0, 0, time.UTC)
	of := func(digest byte, at time.Time) string {
		r := &Receipt{Digest: bytes.Repeat([]byte{digest}, 32), Events: []Event{{At: at}}}
		return string(r.Fingerprint())
	}
	if first, again := of(1, at), of(1, at); first != again || first == of(2, at) {
		t.Error("a fingerprint is not that of one body")
	}
	other := &Receipt{Connection: "other", Digest: bytes.Repeat([]byte{1}, 32), Events: []Event{{At: at}}}
	if of(1, at) == string(other.Fingerprint()) {
		t.Error("two connections have one fingerprint")
	}
}

func TestRepeats(t *testing.T) {
	now := time.Date(2026, 11, 22, 19, 0, 0, 0, time.UTC)
	r := Receipt{Key: "k", RequestID: "id", ReceivedAt: now}
	for _, c := range []struct {
		name     string
		withheld bool
		seen     Seen
		want     bool
	}{
		{"the same id, however old", false, Seen{"k", "id", now.AddDate(0, -1, 0), false}, true},
		{"the same id under another key", false, Seen{"other", "id", now, false}, true},
		{"the same id, withheld", true, Seen{"k", "id", now, true}, true},
		{"another id within ten minutes", false, Seen{"k", "2", now.Add(-SameBodyWithin), false}, true},
		{"no id within ten minutes", false, Seen{"k", "", now.Add(-time.Second), false}, true},
		{"another id later", false, Seen{"k", "2", now.Add(-SameBodyWithin - 1), false}, false},
		{"another id and key", false, Seen{"other", "2", now, false}, false},
		{"another was withheld", false, Seen{"k", "2", now, true}, false},
		{"it is withheld", true, Seen{"k", "2", now, false}, false},
	} {
		r.withheld = c.withheld
		if got := r.Repeats(c.seen); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
	none := Receipt{Key: "k", ReceivedAt: now}
	if none.Repeats(Seen{"k", "", now.Add(-time.Hour), false}) {
		t.Error("none has no id, and that is not the same")
	}
}
