package loadtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// card posts a card with an event to a channel and gives the answer.
func card(t *testing.T, sink *Sink, channel, event int) (status int, body string) {
	t.Helper()
	text := fmt.Sprintf("event %d of channel %d", event, channel)
	resp, err := http.Post(fmt.Sprintf("%s/channel/%d", sink.URL(), channel), "text/plain", strings.NewReader(text))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(answer)
}

func TestSinkAnswers(t *testing.T) {
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	tests := []struct {
		name   string
		answer Answer
		status int
		body   string
		taken  bool
	}{
		{"as it is", Answer{}, 202, "", true},
		{"a body", Answer{Status: 200, Body: []byte("no\x00")}, 200, "no\x00", true},
		{"a body many times", Answer{Status: 500, Body: []byte("abc"), Times: 3}, 500, "abcabcabc", false},
		{"this event", Answer{Status: 500, Event: 7}, 500, "", false},
		{"another event", Answer{Status: 500, Event: 8, Body: []byte("no")}, 202, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sink := newSink(t, 2)
			sink.Set(1, tt.answer)
			status, body := card(t, sink, 1, 7)
			if status != tt.status || body != tt.body {
				t.Errorf("answered %d %q, want %d %q", status, body, tt.status, tt.body)
			}
			if taken := len(sink.Arrivals(1)) == 1; taken != tt.taken {
				t.Errorf("taken is %t, want %t", taken, tt.taken)
			}
			if sink.Asked(0) != 0 || sink.Asked(1) != 1 {
				t.Errorf("asked %d and %d times, want 0 and 1", sink.Asked(0), sink.Asked(1))
			}
		})
	}
}

func TestSinkEndsDelayWhenSetAnew(t *testing.T) {
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	sink := newSink(t, 1)
	sink.Set(0, Answer{Delay: time.Hour})
	answered := make(chan int)
	go func() {
		status, _ := card(t, sink, 0, 1)
		answered <- status
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for sink.Asked(0) == 0 {
		<-tick.C
	}
	sink.Set(0, Answer{Status: http.StatusTeapot})
	if status := <-answered; status != http.StatusTeapot {
		t.Errorf("answered %d, want the answer that was set last", status)
	}
}

func TestLoadPostsEachChannelsShare(t *testing.T) {
	const channels = 5
	sink := newSink(t, channels)
	load := NewLoad(channels, 2, relay(t, sink).Listener.Addr().String())
	load.Each = 3
	load.Run(t.Context(), 0)
	load.Run(t.Context(), 1000)
	for channel := range channels {
		if n := len(load.Posts(channel)); n != 6 {
			t.Errorf("channel %d got %d events in two runs, want 6", channel, n)
		}
		if v := JudgeChannel(load, sink, channel); v.Acknowledged != 6 || v.Missing != 0 {
			t.Errorf("channel %d: %s", channel, v)
		}
	}
}
