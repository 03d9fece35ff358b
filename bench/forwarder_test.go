package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

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
	load.Each = 5
	load.Run(t.Context(), 0)
	if v := loadtest.Judge(load, sink); v.Acknowledged == 0 || v.Missing+v.Disordered+v.Repeated+v.Unpromised > 0 {
		t.Error(v)
	}
}
