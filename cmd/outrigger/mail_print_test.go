package main

import (
	"encoding/json"
	"strings"
	"testing"

	"outrigger/internal/mailqueue"
)

// An answer of the smarthost begins with its code, which is not said twice.
func TestAttemptsOfAMessage(t *testing.T) {
	var out strings.Builder
	var m mailqueue.Message
	err := json.Unmarshal([]byte(`{"attempts": [
		{"nodeId": "node_1", "status": 421, "answer": "421 4.7.0 Too many messages"}, {"nodeId": "node_1", "status": 500, "answer": "500"},
		{"nodeId": "node_1", "error": "The smarthost did not answer."}
	]}`), &m)
	if err != nil {
		t.Fatal(err)
	}
	if err := printMessage(&out, &m); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"by node_1: 421 4.7.0 Too many messages\n", "by node_1: 500\n", "by node_1: The smarthost did not answer.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
