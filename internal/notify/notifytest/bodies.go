package notifytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"outrigger/internal/fault"
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

// CheckKept holds that the events of a body have kept little of it: an event
// waits in memory for its message.
func CheckKept(decode notify.Decoder, key string, body []byte, baseURL string) error {
	before := heap()
	_, events, err := decode(key, body, baseURL)
	after := heap()
	if err != nil {
		return err
	}
	if after > before+32<<10 {
		return fmt.Errorf("the events of a body of %d bytes keep %d", len(body), after-before)
	}
	runtime.KeepAlive([][]notify.Event{events})
	runtime.KeepAlive(body)
	return nil
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

// CheckAnswer holds what is true of the answer to any body under a key: it is
// one of a Decoder's errors, or events that can be stored and read again.
func CheckAnswer(decode notify.Decoder, key string, body []byte, baseURL string) error {
	_, events, err := decode(key, body, baseURL)
	if err != nil {
		if !errors.Is(err, notify.ErrNotUnderstood) && !errors.Is(err, notify.ErrUnknownKey) && !fault.Is(err, fault.Invalid) {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
	for i := range events {
		if err := checkStored(key, &events[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkStored(key string, e *notify.Event) error {
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
