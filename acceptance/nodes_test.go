package acceptance

import (
	"crypto/rand"
	"encoding/base64"
	"testing"
	"time"

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
)

// pair starts two nodes on one database.
func pair(t *testing.T) (a, b *loadtest.Process) {
	t.Helper()
	key := make([]byte, 32)
	rand.Read(key) // never fails (crypto/rand)
	s := loadtest.Settings{
		DatabaseURL: dbtest.PostgresURL(t),
		SecretKey:   base64.StdEncoding.EncodeToString(key),
		Clustered:   true,
	}
	s.NodeID = "a"
	a = node(t, s)
	start(t, a)
	s.NodeID = "b"
	b = node(t, s)
	start(t, b)
	return a, b
}

// TestTwoNodesOneDies kills one of two nodes under load. Every channel goes on, and
// nothing acknowledged by either is lost or out of order.
func TestTwoNodesOneDies(t *testing.T) {
	t.Parallel()
	const channels, rate = 64, 500
	sink := newSink(t, channels)
	a, b := pair(t)
	saveMixedRules(t, a, channels, sink)
	load := loadtest.NewLoad(channels, channels, a.Addr(), b.Addr())
	stop := background(t, load, rate)
	pass(t, 8*time.Second) // long enough for both to hold their share of the channels
	a.Kill()
	died := time.Now()
	pass(t, 3*time.Second)
	stop()
	await(t, load, sink, patience, 1)
	t.Logf("every channel was up to date %s after the node died", time.Since(died).Round(100*time.Millisecond))

	start(t, a)
	stop = background(t, load, rate)
	pass(t, 2*time.Second)
	stop()
	await(t, load, sink, patience, 1)
}

// TestTwoNodesOneMind saves a rule on one node and posts to the other at once:
// what was saved holds, in both directions.
func TestTwoNodesOneMind(t *testing.T) {
	t.Parallel()
	sink := newSink(t, 1)
	a, b := pair(t)
	rule := loadtest.ChannelRule(0, sink.URL())
	taken := rule.EventTypes
	var want []int
	seq := 0
	for round := range 20 {
		save, post := a, b
		if round%2 == 1 {
			save, post = b, a
		}
		for _, types := range [][]string{taken, {"TAG_CREATED"}} {
			rule.EventTypes = types
			id, err := save.SaveRule(t.Context(), rule)
			if err != nil {
				t.Fatal(err)
			}
			rule.ID, rule.WebhookURL = id, "" // none keeps the stored one
			seq++
			body := loadtest.NewBody(0).Append(nil, seq)
			if status := send(t, post, signed(body)); status != 202 {
				t.Fatalf("event %d: status %d", seq, status)
			}
			if types[0] == taken[0] {
				want = append(want, seq)
			}
		}
	}
	eventually(t, patience, func() bool { return len(sink.Arrivals(0)) >= len(want) })
	for i, arrival := range sink.Arrivals(0) {
		if i >= len(want) || arrival.Seq != want[i] {
			t.Fatalf("arrived: %v, want the events %v", sink.Arrivals(0), want)
		}
	}
}
