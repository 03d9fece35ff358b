package faults

import "encoding/json"

// Nulled leaves values their ids, of which there are some, and a null among
// them.
func Nulled(values []any) []any {
	out := []any{nil, map[string]any{}}
	for _, v := range values {
		text, _ := json.Marshal(v) // what is answered always encodes
		var members map[string]any
		_ = json.Unmarshal(text, &members)
		for name := range members {
			if name != "id" {
				members[name] = nil
			}
		}
		out = append(out, members)
	}
	return out
}
