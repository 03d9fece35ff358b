package app

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity"
)

// A pipe gets JSON, what is asked for goes before that, and every line of a
// request has its id.
func TestLogger(t *testing.T) {
	var out bytes.Buffer
	ctx := identity.WithCaller(t.Context(), &identity.Caller{Origin: identity.Origin{RequestID: "r1"}})
	log := NewLogger(config.Log{}, LogLevel(config.Log{Level: "warn"}), &out)
	log.InfoContext(ctx, "unimportant")
	log.WarnContext(ctx, "look", "n", 1, "took", 1500*time.Millisecond)
	var line struct {
		Msg       string
		N         int
		Took      string
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Msg != "look" || line.N != 1 || line.Took != "1.5s" || line.RequestID != "r1" {
		t.Errorf("%s: %v", out.String(), err)
	}

	out.Reset()
	NewLogger(config.Log{Format: "text"}, LogLevel(config.Log{Level: "debug"}), &out).Debug("small")
	if !strings.HasSuffix(out.String(), "level=DEBUG msg=small\n") {
		t.Errorf("text: %q", out.String())
	}
}
