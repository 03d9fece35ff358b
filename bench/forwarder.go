package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"outrigger/internal/loadtest"
)

// cardSize is how much of a body the forwarder sends on: about what a card is.
const cardSize = 2 << 10

// forward is the program that everything is held against: it takes a webhook,
// posts the first 2 KiB of it to the sink, and keeps nothing.
func forward(listen, sink string) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	return http.ListenAndServe(listen, forwarder(client, sink))
}

func forwarder(client *http.Client, sink string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		_, rest, _ := strings.Cut(r.Header.Get("X-Request-Id"), "-")
		channel, _, _ := strings.Cut(rest, "-")
		card := body[:min(len(body), cardSize)]
		resp, err := client.Post(sink+"/channel/"+channel, "application/json", bytes.NewReader(card))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		io.Copy(io.Discard, resp.Body) // so that the connection can be used again
		resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
	})
}

// startForwarder runs the forwarder with a load and a sink.
func (b *bench) startForwarder(ctx context.Context) *subject {
	sink, addr := b.sink(channels), freeAddress()
	pid := b.self(ctx, addr, "forward", addr, sink.URL())
	return newSubject(loadtest.NewLoad(channels, connections, addr), sink, func() int { return pid })
}
