package main

import (
	"strings"
	"testing"
)

// An answer of the smarthost begins with its code, which is not said twice.
func TestAttemptsOfAMessage(t *testing.T) {
	var out strings.Builder
	m := message{Attempts: []attempt{
		{NodeID: "node_1", Status: 421, Answer: "421 4.7.0 Too many messages"}, {NodeID: "node_1", Status: 500, Answer: "500"},
		{NodeID: "node_1", Error: "The smarthost did not answer."},
	}}
	if err := m.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"by node_1: 421 4.7.0 Too many messages\n", "by node_1: 500\n", "by node_1: The smarthost did not answer.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
