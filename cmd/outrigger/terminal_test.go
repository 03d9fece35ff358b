package main

import (
	"strings"
	"testing"
)

// A mail at a terminal has its lines and its letters, and nothing that a terminal
// obeys, however it comes in pieces.
func TestTextOfOthersAtATerminal(t *testing.T) {
	mail := "Subject: \x1b]0;owned\x07 a\u202Eb \x9b2J\u009b2J\r\n\r\nä € 😀\ttab\rover\r\n\xff end\n"
	for size := 1; size <= len(mail); size++ {
		var out strings.Builder
		w := &terminalText{out: &out}
		for rest := mail; rest != ""; {
			n := min(size, len(rest))
			if written, err := w.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatalf("%d of %d: %v", written, n, err)
			}
			rest = rest[n:]
		}
		got := out.String()
		if strings.ContainsAny(got, "\x1b\x07\r\u202E\u009b") || strings.Contains(got, "\x9b2") && !strings.Contains(got, "\uFFFD2J") {
			t.Errorf("in pieces of %d: %q", size, got)
		}
		for _, kept := range []string{"Subject: ", "owned", "ä € 😀", "tab", " end\n"} {
			if !strings.Contains(got, kept) {
				t.Errorf("in pieces of %d, %q is missing: %q", size, kept, got)
			}
		}
		if n := strings.Count(got, "\n"); n != 4 {
			t.Errorf("in pieces of %d there are %d lines: %q", size, n, got)
		}
	}
}
