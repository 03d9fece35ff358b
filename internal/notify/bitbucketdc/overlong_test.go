package bitbucketdc

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"outrigger/internal/notify"
)

// A list of millions takes little memory, and the body counts as not
// understood.
func TestOverlongLists(t *testing.T) {
	body := []byte(`{"eventKey":"repo:refs_changed","changes":[` + strings.Repeat("{},", 3_000_000) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	key, events, err := Decode("", body, "https://code.example.com")
	runtime.ReadMemStats(&after)
	if key != "repo:refs_changed" || events != nil || !errors.Is(err, notify.ErrNotUnderstood) || !strings.Contains(err.Error(), "more than 100000 elements") {
		t.Errorf("%s: %d events, %v", key, len(events), err)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 100 {
		t.Errorf("decoding took %d MiB", took)
	}
}
