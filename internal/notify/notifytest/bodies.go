package notifytest

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"outrigger/internal/notify"
)

// Lengthen makes every text of a decoded body a long one, but those by which it
// is understood, which are in members of the names given.
func Lengthen(body any, keep ...string) any { return lengthen("", body, keep) }

func lengthen(name string, v any, keep []string) any {
	const long = 32 << 10
	switch v := v.(type) {
	case string:
		if slices.Contains(keep, name) {
			return v
		}
		return v + "\n" + strings.Repeat("x", long)
	case map[string]any:
		for name, member := range v {
			v[name] = lengthen(name, member, keep)
		}
	case []any:
		for i := range v {
			v[i] = lengthen(name, v[i], keep)
		}
	}
	return v
}

// Heap is how many bytes are in use. What pools have kept goes in the second
// collection.
func Heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// CheckDecoded holds what is true of every event that a decoder makes of a body
// under a key: it can be stored and read again.
func CheckDecoded(key string, e *notify.Event) error {
	if len(e.Types) == 0 || e.Key != key || e.Connection != "" || len(e.Commits) > notify.MaxCommits {
		return fmt.Errorf("%s gives %+v", key, e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("%s gives an event that cannot be stored: %w", key, err)
	}
	if strings.Contains(string(text), `\u0000`) && !strings.Contains(string(text), `\\u0000`) {
		return fmt.Errorf("%s gives an event with U+0000: %s", key, text)
	}
	var again notify.Event
	if err := json.Unmarshal(text, &again); err != nil {
		return fmt.Errorf("%s gives an event that cannot be read: %w", key, err)
	}
	return nil
}
