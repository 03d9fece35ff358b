package store

import (
	"encoding/json"
	"fmt"

	"outrigger/internal/notify"
)

// encodeMembers writes what of a rule is kept as JSON.
func encodeMembers(r *notify.Rule) (filter, options string, err error) {
	f, err := json.Marshal(r.Filter)
	if err != nil {
		return "", "", fmt.Errorf("encoding filter: %w", err)
	}
	o, err := json.Marshal(r.Options)
	if err != nil {
		return "", "", fmt.Errorf("encoding options: %w", err)
	}
	return string(f), string(o), nil
}

// decodeFilter reads a stored filter. What cannot be read at all is an empty
// one; event types of a later release are left out.
func decodeFilter(stored string) notify.Filter {
	var kept struct {
		notify.Filter
		EventTypes []string `json:"eventTypes"`
	}
	if json.Unmarshal([]byte(stored), &kept) != nil {
		return notify.Filter{}
	}
	f := kept.Filter
	for _, key := range kept.EventTypes {
		if t, ok := notify.ParseEventType(key); ok {
			f.EventTypes = append(f.EventTypes, t)
		}
	}
	return f
}

// decodeOptions reads stored options. What cannot be read, of a later release,
// is none: the rule sends at once.
func decodeOptions(stored string) notify.Options {
	var o notify.Options
	if json.Unmarshal([]byte(stored), &o) != nil {
		return notify.Options{}
	}
	return o
}
