package relay

import (
	"bytes"
	"cmp"
	"strings"
	"sync"

	"outrigger/internal/playground/smarthost"
)

// mailFaults are limits and refusals of a smarthost, beside its mode. A reply of
// 421 closes the connection, as RFC 5321, 3.8, has it.
type mailFaults struct {
	Senders    map[string]string // replies to MAIL, by the sender's address
	Recipients map[string]string // replies to RCPT, by the recipient's address

	MaxRecipients int    // in one transaction; 0: any number
	TooMany       string // the reply to one more; "": 452 4.5.3
	MaxLine       int    // bytes of a line without its CRLF; 0: any length
	LongLine      string // the reply to a longer one; "": 500 5.6.0
}

// faulty is a smarthost with such faults.
type faulty struct {
	*smarthost.Host

	mu     sync.Mutex
	faults mailFaults
}

// newFaulty makes a smarthost that accepts everything. o.React comes before faults.
func newFaulty(o smarthost.Options) *faulty {
	h, before := new(faulty), o.React
	o.React = func(r smarthost.Request) *smarthost.Reaction {
		if before != nil {
			if reaction := before(r); reaction != nil {
				return reaction
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.faults.reaction(r)
	}
	h.Host = smarthost.New(o)
	return h
}

// SetFaults changes what the smarthost refuses from now on.
func (h *faulty) SetFaults(f mailFaults) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = f
}

// reaction is nil where nothing is wrong with a request.
func (f *mailFaults) reaction(r smarthost.Request) *smarthost.Reaction {
	reply := ""
	switch r.Verb {
	case "MAIL":
		reply = f.Senders[addressOf(r.Line)]
	case "RCPT":
		reply = f.Recipients[addressOf(r.Line)]
		if f.MaxRecipients > 0 && r.Message != nil && len(r.Message.To) >= f.MaxRecipients {
			reply = cmp.Or(f.TooMany, "452 4.5.3 Too many recipients")
		}
	case ".":
		if f.MaxLine > 0 && longest(r.Message.Data) > f.MaxLine {
			reply = cmp.Or(f.LongLine, "500 5.6.0 Line too long")
		}
	}
	if reply == "" {
		return nil
	}
	then := smarthost.GoOn
	if strings.HasPrefix(reply, "421") {
		then = smarthost.HangUp
	}
	return &smarthost.Reaction{Reply: reply, Then: then}
}

// addressOf is what stands between < and > in a command.
func addressOf(line string) string {
	_, rest, _ := strings.Cut(line, "<")
	address, _, _ := strings.Cut(rest, ">")
	return address
}

func longest(data []byte) (n int) {
	for line := range bytes.Lines(data) {
		n = max(n, len(bytes.TrimRight(line, "\r\n")))
	}
	return n
}
