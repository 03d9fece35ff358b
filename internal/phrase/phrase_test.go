package phrase

import "testing"

func TestList(t *testing.T) {
	for want, parts := range map[string][]string{
		"":                 nil,
		"rules":            {"rules"},
		"rules and hooks":  {"rules", "hooks"},
		"a, b and c":       {"a", "b", "c"},
		"a, b, c, d and e": {"a", "b", "c", "d", "e"},
	} {
		if got := List(parts); got != want {
			t.Errorf("%q is written %q, want %q", parts, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 records", 1: "1 record", 2: "2 records", 1000: "1000 records"} {
		if got := Count(n, "record"); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
		if got := Count(int64(n), "record"); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}
