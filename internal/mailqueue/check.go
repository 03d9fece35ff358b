package mailqueue

import (
	"context"
	"strings"

	"outrigger/internal/fault"
)

// CheckStep is one step of trying the smarthost, and what came of it. It holds no
// secret.
type CheckStep struct {
	Name   string `json:"name" doc:"The step."`
	Answer string `json:"answer,omitempty" doc:"What the smarthost answered, or what was found."`
	Error  string `json:"error,omitempty" doc:"Why it went no further."`
}

// Check tries the smarthost of this node. It sends a test message from one address to
// another, or nothing if to is empty.
type Check func(ctx context.Context, from, to string) ([]CheckStep, error)

// JudgeCheck says what is wrong with the addresses of a test message.
func JudgeCheck(from, to string) error {
	var wrong fault.Fields
	judgeAddress(&wrong, "from", from)
	judgeAddress(&wrong, "to", to)
	if len(wrong) == 0 && from != "" && to == "" {
		wrong.Add("to", "Set the address that the test message goes to.")
	}
	return wrong.Err()
}

func judgeAddress(wrong *fault.Fields, field, address string) {
	unusable := func(r rune) bool { return r <= ' ' || r == 0x7f || r == '<' || r == '>' }
	if address != "" && (!strings.Contains(address, "@") || strings.ContainsFunc(address, unusable)) {
		wrong.Add(field, "This is not an address; write it as ann@example.com.")
	}
}
