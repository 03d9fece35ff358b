package bitbucketcloud

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/notifytest"
	"outrigger/internal/playground/cloudsamples"
)

// An event waits in memory for its message: of the long texts of a body it has
// kept what it shows.
func TestEventsLetTheBodyGo(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range cloudsamples.Samples() {
		if seen[s.EventKey] { // one of each, since under the race detector each takes a while
			continue
		}
		seen[s.EventKey] = true
		var tree map[string]any
		if err := json.Unmarshal(s.Render(cloudsamples.Engine, 2, noon), &tree); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(notifytest.Lengthen(tree, "type", "state", "date", "created_on", "updated_on", "href", "uuid"))
		if err != nil {
			t.Fatal(err)
		}
		if err := notifytest.CheckKept(Decode, s.EventKey, body, base); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

// A list that is far too long takes little memory, and the body counts as not
// understood.
func TestOverlongLists(t *testing.T) {
	body := []byte(`{"push":{"changes":[` + strings.Repeat("{},", 600_000) + `{}]}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	key, events, err := Decode("repo:push", body, base)
	runtime.ReadMemStats(&after)
	if key != "repo:push" || events != nil || !errors.Is(err, notify.ErrNotUnderstood) || !strings.Contains(err.Error(), "more than 100000 elements") {
		t.Errorf("%s: %d events, %v", key, len(events), err)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
		t.Errorf("decoding took %d MiB", took)
	}
}
