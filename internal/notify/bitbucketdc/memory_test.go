package bitbucketdc

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/playground/samples"
)

// lengthen makes every text of a body a long one, but those by which the body is
// understood.
func lengthen(name string, v any) any {
	const long = 32 << 10
	switch v := v.(type) {
	case string:
		switch name {
		case "eventKey", "type", "date", "previousStatus":
			return v
		}
		return v + "\n" + strings.Repeat("x", long)
	case map[string]any:
		for name, member := range v {
			v[name] = lengthen(name, member)
		}
	case []any:
		for i := range v {
			v[i] = lengthen(name, v[i])
		}
	}
	return v
}

// heap is how many bytes are in use. What pools have kept goes in the second
// collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// An event waits in memory for its message: of the long texts of a body it has
// kept what it shows.
func TestEventsLetTheBodyGo(t *testing.T) {
	for _, s := range samples.Samples() {
		var tree map[string]any
		if err := json.Unmarshal(s.Render(2, time.Unix(1795176000, 0)), &tree); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(lengthen("", tree))
		if err != nil {
			t.Fatal(err)
		}
		before := heap()
		_, events, err := Decode(s.EventKey, body, base)
		after := heap()
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
