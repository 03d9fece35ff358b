package smtpclient

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// How long the smarthost may take with a message: RFC 5321, 4.5.3.2.5 and
// 4.5.3.2.6.
const (
	blockTime = 3 * time.Minute
	endTime   = 10 * time.Minute
)

// pipelined is how many commands go before their answers are awaited: more
// could fill the buffers of both sides with neither reading.
const pipelined = 100

// Message is what one transaction sends.
type Message struct {
	Sender     string   // "" for the null sender
	Recipients []string // at least one
	EightBit   bool     // needs 8BITMIME
	UTF8       bool     // needs SMTPUTF8
	OpenEnd    bool     // its last line has no CRLF: needs CHUNKING

	Content io.Reader
	Size    int64       // of Content, in bytes
	MayEnd  func() bool // asked when all but the end was sent, whether it may be completed; nil: it may
}

// Result is what the smarthost answered to one transaction. An answer that did
// not come is the zero Reply.
type Result struct {
	Missing    string  // an extension that the message needs and the smarthost does not offer; nothing was sent
	Mail       Reply   // to MAIL
	Recipients []Reply // to each RCPT
	Data       Reply   // to DATA
	End        Reply   // to the message
	Err        error   // what ended the session, which is to be closed; nil: it can be used again
	Unsent     bool    // MayEnd or Content stopped the message; that is no answer of the smarthost's
}

// Accepted counts the recipients that the message is for.
func (r *Result) Accepted() (n int) {
	for _, one := range r.Recipients {
		if one.Code/100 == 2 {
			n++
		}
	}
	return n
}

// Reason is what ended the session, in a few words.
func (r *Result) Reason() string {
	if r.Err == nil {
		return "the session ended"
	}
	return plain(r.Err)
}

// transaction sends one message over a session.
type transaction struct {
	*Session
	m *Message
	Result
}

// Send sends one message. It returns when the smarthost has answered, or
// nothing more can be learned.
func (s *Session) Send(m *Message) Result {
	t := &transaction{Session: s, m: m}
	t.Recipients = make([]Reply, len(m.Recipients))
	if t.Missing = t.lacks(); t.Missing != "" {
		return t.Result
	}
	t.used++
	t.begin()
	wanted := t.Mail.Code/100 == 2 && t.Accepted() > 0
	switch {
	case t.Err != nil:
	case m.OpenEnd && wanted:
		t.inChunk()
	case t.Data.Code == 354 && wanted:
		t.asText()
	case t.Data.Code == 354:
		// It waits for a message without recipients. Hanging up is the only
		// answer that sends none.
		t.Err = errNoRecipient
	case t.Data.Code != 0 && t.Data.Code < 400:
		t.Err = errNotSMTP
	}
	return t.Result
}

// Ends of a session other than the connection's.
var (
	errGone        = errors.New("it ended the session with 421")
	errNoRecipient = errors.New("it asked for a message whose recipients it had all refused")
)

// lacks names what the message needs and the smarthost does not offer.
func (t *transaction) lacks() string {
	switch {
	case t.m.EightBit && !t.offer("8BITMIME"):
		return "8BITMIME"
	case t.m.UTF8 && !t.offer("SMTPUTF8"):
		return "SMTPUTF8"
	case t.m.OpenEnd && !t.offer("CHUNKING"):
		return "CHUNKING"
	}
	return ""
}

// begin says everything up to DATA, as much at a time as the smarthost takes.
func (t *transaction) begin() {
	window := 1
	if t.offer("PIPELINING") {
		window = pipelined
	}
	commands := t.commands()
	said, heard := 0, 0
	for heard < len(commands) {
		for said < len(commands) && said-heard < window {
			if said == heard && commands[said].into == &t.Data && t.Accepted() == 0 {
				return // DATA need not be said: every recipient was refused
			}
			t.say(commands[said].line)
			said++
		}
		*commands[heard].into, t.Err = t.answer(commandTime)
		if t.Err != nil {
			return
		}
		if commands[heard].into == &t.Mail {
			t.open = t.Mail.Code/100 == 2
			if !t.open {
				commands = commands[:said] // what was said already is answered too
			}
		}
		if commands[heard].into.Code == 421 {
			t.Err = errGone
			return
		}
		heard++
	}
}

// command is a line and where its answer goes.
type command struct {
	line string
	into *Reply
}

func (t *transaction) commands() []command {
	list := make([]command, 0, len(t.m.Recipients)+3)
	if t.open {
		list = append(list, command{"RSET", new(Reply)})
	}
	list = append(list, command{t.mailCommand(), &t.Mail})
	for i, address := range t.m.Recipients {
		list = append(list, command{"RCPT TO:" + Path(address), &t.Recipients[i]})
	}
	if !t.m.OpenEnd {
		list = append(list, command{"DATA", &t.Data})
	}
	return list
}

func (t *transaction) mailCommand() string {
	var line strings.Builder
	line.WriteString("MAIL FROM:" + Path(t.m.Sender))
	if t.offer("SIZE") {
		line.WriteString(" SIZE=" + strconv.FormatInt(t.m.Size, 10))
	}
	if t.m.EightBit {
		line.WriteString(" BODY=8BITMIME")
	}
	if t.m.UTF8 {
		line.WriteString(" SMTPUTF8")
	}
	return line.String()
}

// Path writes an address for MAIL and RCPT, with quotes where its local part
// needs them.
func Path(address string) string {
	at := strings.LastIndexByte(address, '@') // a quoted local part may have another
	if at < 0 || !strings.ContainsFunc(address[:at], needsQuotes) {
		return "<" + address + ">"
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(address[:at])
	return `<"` + quoted + `"` + address[at:] + ">"
}

// needsQuotes reports whether a character is none of an atom, and no dot: RFC
// 5322, 3.2.3.
func needsQuotes(r rune) bool {
	return r <= ' ' || r == 0x7f || strings.ContainsRune(`()<>[]:;@\,"`, r)
}
