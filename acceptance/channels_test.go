package acceptance

import (
	"bytes"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"outrigger/internal/loadtest"
)

// trouble is one kind of failing channel, and what becomes of its messages
// while it fails.
type trouble struct {
	name   string
	answer loadtest.Answer
	holds  int // how many messages do not arrive while it fails; all: every one
	fails  int // how many of these never arrive: the fifth refusal breaks the channel
	aside  int // how many may arrive after later ones
}

const all = -1

// troubles are the kinds. event is the one that a channel refuses which takes
// all others; other is the URL of another channel.
func troubles(event int, other string) []trouble {
	status := func(code int, header ...string) loadtest.Answer {
		a := loadtest.Answer{Status: code, Header: http.Header{}}
		for i := 0; i < len(header); i += 2 {
			a.Header.Set(header[i], header[i+1])
		}
		return a
	}
	return []trouble{
		{name: "never answers", answer: loadtest.Answer{Delay: time.Hour}, holds: all},
		{name: "slow", answer: loadtest.Answer{Delay: 50 * time.Millisecond}},
		// In the moment before the second message is refused as well, the first
		// one is beside the queue.
		{name: "500", answer: status(500), holds: all, aside: 1},
		{name: "500 to one message", answer: loadtest.Answer{Status: 500, Event: event}, holds: 1, aside: 1},
		{name: "404", answer: status(404), holds: all},
		{name: "413", answer: status(413), holds: all, fails: 5},
		{name: "429", answer: status(429, "Retry-After", "1"), holds: all},
		{name: "reset", answer: loadtest.Answer{Reset: true}, holds: all},
		{name: "garbage with 200", answer: loadtest.Answer{Status: 200, Body: []byte("\x00\xff{]<html>\x1b[31m")}},
		{name: "redirect", answer: status(307, "Location", other), holds: all},
		{name: "100 MiB with 200", answer: loadtest.Answer{Status: 200, Body: bytes.Repeat([]byte("<p>"), 1<<20/3), Times: 100}},
	}
}

// channelsForm is how large the test is.
type channelsForm struct {
	channels, each int     // each: events of a channel in a phase
	rounds         int     // of a phase without failures and one with them
	ratio          float64 // of the healthy channels' p99 to that without failures; 0: not held
}

// formOfChannels is TEST_CHANNELS channels that get 100 events each beside
// failing ones, or 100 with 15: too few for a p99 to be compared.
func formOfChannels(t *testing.T) channelsForm {
	t.Helper()
	text, ok := os.LookupEnv("TEST_CHANNELS")
	if !ok {
		return channelsForm{channels: 100, each: 15, rounds: 1}
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("TEST_CHANNELS: %v", err)
	}
	return channelsForm{channels: n, each: 20, rounds: 5, ratio: 1.2}
}

const (
	// warmUp is how many events a channel gets before anything is measured:
	// the first opens the connections.
	warmUp = 2
	// channelsRate is far from what a node can do, so that no queue grows on
	// its own and hides what is looked for.
	channelsRate = 500
	// heldUp is less than any wait for a failing channel would be: a POST to one
	// that never answers takes 10 s, a gate is closed for 5 s or more.
	heldUp = 4 * time.Second
	// settleTime is for what channels do in seconds, on a busy machine.
	settleTime = time.Minute
)

// TestFailingChannels has a twentieth of the channels fail in each way, under
// load. The others do not notice; what is counted adds up; and when the failing
// ones work again, each of their messages arrives, in order but for what was set
// aside, unless it was refused.
//
// The pace of a channel is off and no digests are made, as in all of these
// tests: each message is seen by itself, as soon as its turn comes.
func TestFailingChannels(t *testing.T) {
	form := formOfChannels(t)
	sink := newSink(t, form.channels)
	p := node(t, loadtest.Settings{})
	start(t, p)
	if err := p.SaveChannelRules(t.Context(), form.channels, sink.URL()); err != nil {
		t.Fatal(err)
	}
	run := &channelsRun{
		channelsForm: form, p: p, sink: sink,
		load: loadtest.NewLoad(form.channels, min(form.channels, 100), p.Addr()),
		kind: make([]trouble, form.channels), lost: make([]int, form.channels), aside: make([]int, form.channels),
	}
	run.choose()
	run.phase(t, warmUp)

	// By turns, since the database grows meanwhile and a disk has its moods.
	for range form.rounds {
		run.round(t)
	}
	run.healthy(t)
	run.compare(t)
	if n := sink.Strange(); n > 0 {
		t.Errorf("%d cards held no event of their channel", n)
	}
}
