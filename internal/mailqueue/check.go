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

// Check tries the smarthost of this node. Where to is an address, a test message
// goes there from another; else nothing is sent.
type Check func(ctx context.Context, from, to string) ([]CheckStep, error)

// JudgeCheck says what is wrong with the addresses of a test message.
func JudgeCheck(from, to string) error {
	var wrong error
	for field, address := range map[string]string{"from": from, "to": to} {
		if address != "" && (!strings.Contains(address, "@") || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '<' || r == '>' })) {
			wrong = fault.Every(wrong, fault.InvalidField(field, "This is not an address; write it as ann@example.com."))
		}
	}
	if wrong == nil && from != "" && to == "" {
		return fault.InvalidField("to", "Set the address that the test message goes to.")
	}
	return wrong
}
