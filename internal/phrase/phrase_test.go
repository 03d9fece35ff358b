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

func TestLine(t *testing.T) {
	for said, want := range map[string]string{
		"Größe 3, 日本語":                    "Größe 3, 日本語",
		"one\r\ntwo\tthree\x00":           "one  two three ",
		"\x1b[31mred\x7f\u0085":           " [31mred  ",
		"safe\u202Egpj.exe \u2066x\u2069": "safe gpj.exe  x ",
		"a\u200Fb":                        "a\u200Fb",
	} {
		if got := Line(said); got != want {
			t.Errorf("%q becomes %q, want %q", said, got, want)
		}
	}
}
