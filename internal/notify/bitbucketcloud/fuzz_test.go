package bitbucketcloud

import (
	"slices"
	"testing"

	"outrigger/internal/notify/notifytest"
	"outrigger/internal/playground/cloudsamples"
)

// FuzzDecode decodes any body under every key: an answer, never a panic, and
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
			if err := notifytest.CheckAnswer(Decode, key, body, base); err != nil {
				t.Fatal(err)
			}
		}
	})
}
