package smarthost

import (
	"bytes"
	"strings"
)

// Faults are limits and refusals of a smarthost, beside its mode. A reply of
// 421 closes the connection, as RFC 5321, 3.8, has it.
type Faults struct {
	Senders    map[string]string // replies to MAIL, by the sender's address
	Recipients map[string]string // replies to RCPT, by the recipient's address

	MaxRecipients int    // in one transaction; 0: any number
	TooMany       string // the reply to one more; "": 452 4.5.3
	MaxLine       int    // bytes of a line without its CRLF; 0: any length
	LongLine      string // the reply to a longer one; "": 500 5.6.0
}

const (
	tooMany  = "452 4.5.3 Too many recipients"
	longLine = "500 5.6.0 Line too long"
)

// SetFaults changes what the smarthost refuses from now on.
func (h *Host) SetFaults(f Faults) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = f
	h.changed()
}

// reaction is nil where nothing is wrong with a request.
func (f *Faults) reaction(r Request) *Reaction {
	reply := ""
	switch r.Verb {
	case "MAIL":
		address, _, _ := cutPath(afterVerb(r.Line), "FROM:")
		reply = f.Senders[address]
	case "RCPT":
		address, _, _ := cutPath(afterVerb(r.Line), "TO:")
		reply = f.Recipients[address]
		if f.MaxRecipients > 0 && r.Message != nil && len(r.Message.To) >= f.MaxRecipients {
			if reply = f.TooMany; reply == "" {
				reply = tooMany
			}
		}
	case ".":
		if f.MaxLine > 0 && longest(r.Message.Data) > f.MaxLine {
			if reply = f.LongLine; reply == "" {
				reply = longLine
			}
		}
	}
	if reply == "" {
		return nil
	}
	then := GoOn
	if strings.HasPrefix(reply, "421") {
		then = HangUp
	}
	return &Reaction{Reply: reply, Then: then}
}

func afterVerb(line string) string {
	_, rest, _ := strings.Cut(line, " ")
	return rest
}

func longest(data []byte) (n int) {
	for line := range bytes.Lines(data) {
		n = max(n, len(bytes.TrimRight(line, "\r\n")))
	}
	return n
}
