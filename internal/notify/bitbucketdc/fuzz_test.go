package bitbucketdc

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/notifytest"
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
				if err := notifytest.CheckDecoded(key, &events[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
