package restclient

import (
	"bytes"
	"encoding/json"
)

const (
	// maxValues is several times as many values as any platform puts on a page. In
	// memory an empty one takes a hundred times the two bytes that it takes here.
	maxValues = 10_000
	// maxValue is, in bytes, several times a pull request with a thousand reviewers.
	maxValue = 1 << 20
)

// Values reads the values of one page of a list; false where they are none, or are
// more or longer than those of a platform.
func Values[T any](page json.RawMessage) (values []T, ok bool) {
	if string(page) == "null" {
		return nil, true
	}
	d := json.NewDecoder(bytes.NewReader(page))
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
		return nil, false
	}
	for d.More() {
		var one json.RawMessage
		var value T
		if len(values) == maxValues || d.Decode(&one) != nil || len(one) > maxValue || json.Unmarshal(one, &value) != nil {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}
