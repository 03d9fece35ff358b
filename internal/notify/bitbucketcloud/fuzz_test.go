package bitbucketcloud

import (
	"errors"
	"slices"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/notifytest"
	"outrigger/internal/playground/cloudsamples"
)

// FuzzDecode gives any body under every key: an answer, never a panic, and
// events that can be stored and read again.
func FuzzDecode(f *testing.F) {
	var keys []string
	for i, s := range cloudsamples.Samples() {
		if !slices.Contains(keys, s.EventKey) {
			keys = append(keys, s.EventKey)
		}
		f.Add(s.Render(cloudsamples.Engine, int64(i), noon))
	}
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
