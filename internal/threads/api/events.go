package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

const (
	// eventsEvery is how often the status is looked at for a client that follows it.
	eventsEvery = time.Second

	eventsBeat = 20 * time.Second // proxies close what is silent for 60 s

	// eventsLimit ends a stream; a client comes back at once and is asked again
	// who it is and what it may see.
	eventsLimit = 5 * time.Minute

	eventsRetry = 30 * time.Second // when a client that was refused may ask again
)

// events streams the status as server-sent events, whenever it has changed.
func (a *Admin) events(w http.ResponseWriter, r *http.Request, _ struct{}) error {
	leave, beyond := a.followers.Enter(identity.From(r.Context()))
	if beyond != rest.NoStreamLimit {
		return &fault.Error{Code: fault.RateLimited, Message: "Too many streams of events are open. Close some of them.", RetryAfter: eventsRetry}
	}
	defer leave()
	ctx, cancel := context.WithTimeout(r.Context(), eventsLimit)
	defer cancel()
	defer context.AfterFunc(a.ended, cancel)()
	last, err := a.event(ctx)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no") // nginx would hold the stream back
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead || send(w, last) != nil {
		return nil
	}
	// The connection may be used again.
	defer func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) }()
	look, beat := time.NewTicker(eventsEvery), time.NewTicker(eventsBeat)
	defer look.Stop()
	defer beat.Stop()
	for {
		event := []byte(":\n\n")
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
		case <-look.C:
			if !rest.Still(r) {
				return nil // who follows asks again, and is refused
			}
			if event, err = a.event(ctx); err != nil {
				return nil // the answer has begun; who follows asks again
			}
			if bytes.Equal(event, last) {
				continue
			}
			last = event
		}
		if send(w, event) != nil {
			return nil // the client is gone
		}
	}
}

// event is the status as an event.
func (a *Admin) event(ctx context.Context) ([]byte, error) {
	s, err := a.Status(ctx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encoding the status: %w", err)
	}
	return fmt.Appendf(nil, "data: %s\n\n", text), nil
}

func send(w http.ResponseWriter, event []byte) error {
	out := http.NewResponseController(w)
	// What does not know deadlines, as a test's recorder, has none.
	_ = out.SetWriteDeadline(time.Now().Add(eventsBeat))
	if _, err := w.Write(event); err != nil {
		return err
	}
	return out.Flush()
}
