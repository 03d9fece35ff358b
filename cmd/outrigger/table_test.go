package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"outrigger/internal/notify/api"
)

// Names are what others typed: they forge no line or column for scripts, and a
// terminal obeys nothing in them.
func TestNamesForgeNothing(t *testing.T) {
	const name = "pushes\n7\tadmin\r\x1b]52;c;cm0gLXJm\a\u202egnp.exe\u009b2J"
	var out, said strings.Builder
	if err := printRows(&out, []string{"ID", "NAME"}, [][]string{{"1", name}}); err != nil {
		t.Fatal(err)
	}
	x := api.Explanation{Items: []api.RuleVerdict{{ID: 3, Name: name}}}
	x.Event.Key, x.Event.Reason, x.Event.ReceivedAt = name, name, time.Now()
	if err := printExplanation(streams{out: &out, err: &said}, &x); err != nil {
		t.Fatal(err)
	}
	report(streams{out: &out, err: &said}, errors.New(name))
	for what, text := range map[string]string{"output": out.String(), "errors": said.String()} {
		if strings.ContainsAny(text, "\r\x1b\a\u202e\u009b") {
			t.Errorf("the %s are %q", what, text)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "7") {
				t.Errorf("a forged line: %q", text)
			}
		}
	}
	if line, _, _ := strings.Cut(out.String(), "\n"); strings.Count(line, "\t") != 1 {
		t.Errorf("a forged column: %q", line)
	}
}
