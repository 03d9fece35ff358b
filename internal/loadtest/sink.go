package loadtest

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Sink is a chat platform on this machine: it takes cards at /channel/N and
// remembers which event of that channel arrived when.
type Sink struct {
	server   *http.Server
	url      string
	channels []sinkChannel
	strange  atomic.Int64
}

type sinkChannel struct {
	answer atomic.Pointer[setAnswer]
	asked  atomic.Int64

	mu       sync.Mutex
	arrivals []Arrival
}

// Arrival is one event that the sink answered 2xx for.
type Arrival struct {
	Seq int
	At  time.Time
}

// Answer is how a channel answers; the zero Answer takes the card at once.
type Answer struct {
	Status int           // 0 is 202
	Header http.Header   // such as Retry-After
	Delay  time.Duration // before the answer; it ends when the channel is set to answer otherwise
	Reset  bool          // close the connection instead of answering
	Body   []byte
	Times  int // how often Body is written; 0 is once
	Event  int // only this event is answered so, others are taken; 0: all are
}

// setAnswer is an Answer until it is replaced.
type setAnswer struct {
	Answer
	replaced chan struct{}
}

// NewSink starts a sink with so many channels on a free port.
func NewSink(channels int) (*Sink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("sink: %w", err)
	}
	s := &Sink{url: "http://" + l.Addr().String(), channels: make([]sinkChannel, channels)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /channel/{channel}", s.take)
	s.server = &http.Server{Handler: mux}
	go s.server.Serve(l) // ends with Close
	return s, nil
}

// URL is the sink's address, without a path.
func (s *Sink) URL() string { return s.url }

// Close ends the sink and every connection to it.
func (s *Sink) Close() { s.server.Close() }

// Set makes a channel answer so from now on, also the requests that wait for a
// Delay.
func (s *Sink) Set(channel int, a Answer) {
	if old := s.channels[channel].answer.Swap(&setAnswer{a, make(chan struct{})}); old != nil {
		close(old.replaced)
	}
}

// Asked is how many requests a channel got, whatever the answers.
func (s *Sink) Asked(channel int) int64 { return s.channels[channel].asked.Load() }

// Strange is how many requests held no event of their channel.
func (s *Sink) Strange() int64 { return s.strange.Load() }

// Arrivals are the events that a channel has taken so far, in order.
func (s *Sink) Arrivals(channel int) []Arrival {
	c := &s.channels[channel]
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.arrivals[:len(c.arrivals):len(c.arrivals)]
}

func (s *Sink) take(w http.ResponseWriter, r *http.Request) {
	card, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender went away in the middle: it was not answered either
	}
	n, err := strconv.Atoi(r.PathValue("channel"))
	if err != nil || n < 0 || n >= len(s.channels) {
		http.NotFound(w, r)
		return
	}
	c := &s.channels[n]
	c.asked.Add(1)
	events := eventsIn(card, n)
	a, ok := c.decide(r, events)
	if !ok {
		return
	}
	if a.Reset {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	status := cmp.Or(a.Status, http.StatusAccepted)
	if status < 300 {
		c.note(events, &s.strange)
	}
	w.WriteHeader(status)
	for range max(a.Times, 1) {
		if _, err := w.Write(a.Body); err != nil {
			return // the sender has read enough
		}
	}
}

// decide returns the answer to a request with these events, after its delay. It
// says false when the sender gave up first.
func (c *sinkChannel) decide(r *http.Request, events []int) (Answer, bool) {
	for {
		a := c.answer.Load()
		if a == nil || a.Event != 0 && !slices.Contains(events, a.Event) {
			return Answer{}, true
		}
		if a.Delay == 0 {
			return a.Answer, true
		}
		timer := time.NewTimer(a.Delay)
		select {
		case <-timer.C:
			return a.Answer, true
		case <-a.replaced:
			timer.Stop()
		case <-r.Context().Done():
			timer.Stop()
			return Answer{}, false
		}
	}
}

func (c *sinkChannel) note(events []int, strange *atomic.Int64) {
	if len(events) == 0 {
		strange.Add(1)
		return
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, seq := range events {
		c.arrivals = append(c.arrivals, Arrival{Seq: seq, At: now})
	}
}
