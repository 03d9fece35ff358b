package playgroundtest

import (
	"encoding/json"
	"strconv"
)

// nulled leaves values their ids, of which there are some, and a null among
// them.
func nulled(values any) []any {
	out := []any{nil, map[string]any{}}
	list, _ := values.([]any)
	for _, v := range list {
		members, _ := v.(map[string]any)
		for name := range members {
			if name != "id" {
				members[name] = nil
			}
		}
		out = append(out, members)
	}
	return out
}

// whole reads a number of a query or a page.
func whole(v any, otherwise int) int {
	text := ""
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return otherwise
	}
	return n
}
