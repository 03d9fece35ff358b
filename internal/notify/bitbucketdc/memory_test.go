package bitbucketdc

import (
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"outrigger/internal/notify"
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
		before := notifytest.Heap()
		_, events, err := Decode(s.EventKey, body, base)
		after := notifytest.Heap()
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if after > before+32<<10 {
			t.Errorf("%s: the events of a body of %d bytes keep %d", s.Name, len(body), int64(after-before))
		}
		runtime.KeepAlive([][]notify.Event{events})
		runtime.KeepAlive(body)
	}
}
