package bitbucketdc

import (
	"bytes"
	"testing"
	"time"

	"outrigger/internal/notify/notifytest"
	"outrigger/internal/playground/samples"
)

// FuzzDecode decodes any body under every key: an answer, never a panic, and
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
			if err := notifytest.CheckAnswer(Decode, key, body, base); err != nil {
				t.Fatal(err)
			}
		}
	})
}
