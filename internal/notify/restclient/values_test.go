package restclient

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	type value struct{ A int }
	for page, want := range map[string][]value{
		`[]`: nil, `null`: nil, ` [{"a":1}, null, {"b":[[]]}] `: {{1}, {}, {}},
	} {
		if got, ok := Values[value](json.RawMessage(page)); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %t", page, got, ok)
		}
	}
	for name, page := range map[string]string{
		"nothing": ``, "an object": `{}`, "a number": `7`, "of another kind": `[{"a":1},7]`,
		"too many": "[" + strings.Repeat("{},", maxValues) + "{}]", "one too long": `[{"b":"` + strings.Repeat("x", maxValue) + `"}]`,
	} {
		if got, ok := Values[value](json.RawMessage(page)); ok || got != nil {
			t.Errorf("%s: %d values", name, len(got))
		}
	}
}

// A page of nothing but empty values does not grow a hundred times in memory.
func TestEmptyValuesTakeLittle(t *testing.T) {
	type value struct{ A [400]byte }
	page := json.RawMessage("[" + strings.Repeat("{},", maxAnswer/3-2) + "{}]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Values[*value](page)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("a page of %d MiB took %d MiB", len(page)>>20, took>>20)
	}
}
