package bitbucketdc

import (
	"encoding/json"
	"testing"
	"time"

	"outrigger/internal/notify/notifytest"
	"outrigger/internal/playground/samples"
)

// An event waits in memory for its message: of the long texts of a body it has
// kept what it shows.
func TestEventsLetTheBodyGo(t *testing.T) {
	for _, s := range samples.Samples() {
		var tree map[string]any
		if err := json.Unmarshal(s.Render(2, time.Unix(1795176000, 0)), &tree); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(notifytest.Lengthen(tree, "eventKey", "type", "date", "previousStatus"))
		if err != nil {
			t.Fatal(err)
		}
		if err := notifytest.CheckKept(Decode, s.EventKey, body, base); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}
