package bitbucketdc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/playground/samples"
)

// FuzzDecode gives any body under every key: an answer, never a panic, and
// events that can be stored and read again.
func FuzzDecode(f *testing.F) {
	var keys []string
	for i, s := range samples.Samples() {
		keys = append(keys, s.EventKey)
		// Without a key of its own a body is read under every key.
		f.Add(bytes.Replace(s.Render(int64(i), time.Unix(1795176000, 0)), []byte(`"eventKey"`), []byte(`"key"`), 1))
	}
	keys = append(keys, "pr:to_ref_updated", "pr:reviewer:changes_requested", "diagnostics:ping")
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, key := range keys {
			_, events, err := Decode(key, body, base)
			if err != nil {
				if !errors.Is(err, notify.ErrNotUnderstood) && !errors.Is(err, notify.ErrUnknownKey) && !fault.Is(err, fault.Invalid) {
					t.Fatalf("%s: %v", key, err)
				}
				continue
			}
			for i := range events {
				check(t, key, &events[i])
			}
		}
	})
}

func check(t *testing.T, key string, e *notify.Event) {
	if len(e.Types) == 0 || e.Key != key || e.Connection != "" || len(e.Commits) > notify.MaxCommits {
		t.Fatalf("%s gives %+v", key, e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatalf("%s gives an event that cannot be stored: %v", key, err)
	}
	if strings.Contains(string(text), `\u0000`) && !strings.Contains(string(text), `\\u0000`) {
		t.Fatalf("%s gives an event with U+0000: %s", key, text)
	}
	var again notify.Event
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatalf("%s gives an event that cannot be read: %v", key, err)
	}
}
