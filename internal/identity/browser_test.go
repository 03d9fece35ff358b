package identity

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBrowserOf(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0":                                                                  "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0":           "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":                   "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1": "Safari on iOS",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36":                         "Chrome on Android",
		"curl/8.14.1": "curl",
		"":            "",
		"\xff\x00":    "",
	} {
		if got := browserOf(userAgent); got != want {
			t.Errorf("%q is %q, want %q", userAgent, got, want)
		}
	}
}

func FuzzBrowserOf(f *testing.F) {
	f.Add("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0")
	f.Add(strings.Repeat("é", longestUserAgent))
	f.Add("a\x00b/1")
	f.Fuzz(func(t *testing.T, userAgent string) {
		if got := browserOf(userAgent); len(got) > longestBrowser || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%q is %q", userAgent, got)
		}
	})
}
