package playground

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/playground/samples"
)

// A day posts every sample once, and the chat platform is busy for a part of
// it; a fault that is chosen on the page stays.
func TestDay(t *testing.T) {
	chat := NewChat(time.Now)
	var posted, busy atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		posted.Add(1)
		if chat.view() == Busy {
			busy.Add(1)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer hook.Close()
	day := Day{Platform: &Platform{HookURL: hook.URL, Secret: "s", Clock: time.Now}, Chat: chat, Pause: time.Microsecond, Log: slog.New(slog.DiscardHandler)}
	day.Play(t.Context())
	if got := int(posted.Load()); got != len(samples.Samples()) {
		t.Errorf("%d events, want %d", got, len(samples.Samples()))
	}
	if got := busy.Load(); got != busyUntil-busyFrom || chat.view() != Friendly {
		t.Errorf("busy for %d events, and %s at the end", got, chat.view())
	}
	chat.SetFaultMode(Gone)
	day.Play(t.Context())
	if busy.Load() != busyUntil-busyFrom || chat.view() != Gone {
		t.Errorf("what was chosen is %s now", chat.view())
	}
}

func (c *Chat) view() FaultMode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode
}
