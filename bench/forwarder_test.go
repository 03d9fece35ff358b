package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"outrigger/internal/loadtest"
)

// The ratios are worth nothing if what they are held against drops events.
func TestForwarderForwardsEverything(t *testing.T) {
	const channels = 4
	sink, err := loadtest.NewSink(channels)
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	server := httptest.NewServer(forwarder(&http.Client{}, sink.URL()))
	defer server.Close()
	load := loadtest.NewLoad(channels, channels, server.Listener.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	load.Run(ctx, 0)
	if v := loadtest.Judge(load, sink); v.Acknowledged == 0 || v.Missing+v.Disordered+v.Repeated+v.Unpromised > 0 {
		t.Error(v)
	}
}
