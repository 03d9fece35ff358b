package relay

import (
	"bufio"
	"bytes"
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

// blockSize is how much of a message is read at a time.
const blockSize = 32 << 10

// pipelined is how many commands go before their answers are awaited: more
// could fill the buffers of both sides with neither reading.
const pipelined = 100

// replies are what the smarthost said to one transaction. One that did not come
// is the zero reply.
type replies struct {
	missing    string  // an extension that the message needs and the smarthost has not
	mail       reply   // to MAIL
	recipients []reply // to each RCPT, as their turn is
	data       reply   // to DATA
	end        reply   // to the message
	err        error   // what ended the conversation
	unsent     bool    // the message was not completed, which is nobody's answer
}

// accepted counts the recipients that the message is for.
func (r *replies) accepted() (n int) {
	for _, one := range r.recipients {
		if one.code/100 == 2 {
			n++
		}
	}
	return n
}

// transaction sends one message over a conversation.
type transaction struct {
	*conversation
	job     *job
	head    string // the Received: line
	content io.Reader
	mayEnd  func() bool // whether the message may be completed now
	replies
}

// run returns when the smarthost has answered, or nothing more can be learned.
// The conversation can be used again unless err is set.
func (t *transaction) run() {
	t.replies.recipients = make([]reply, len(t.job.turn))
	if t.missing = t.lacks(); t.missing != "" {
		return
	}
	t.used++
	t.begin()
	toSomebody := t.mail.code/100 == 2 && t.accepted() > 0
	switch {
	case t.err != nil:
	case t.job.openEnd && toSomebody:
		t.inChunk()
	case t.data.code == 354 && toSomebody:
		t.asText()
	case t.data.code == 354:
		// It waits for a message to nobody. Hanging up is the only answer
		// that sends none.
		t.err = errNobody
	case t.data.code != 0 && t.data.code < 400:
		t.err = errNotSMTP
	}
}

// Ends of a conversation other than the connection's.
var (
	errGone   = errors.New("it ended the conversation with 421")
	errNobody = errors.New("it asked for a message that nobody is to get")
)

// lacks names what the message needs and the smarthost does not offer.
func (t *transaction) lacks() string {
	switch {
	case t.job.eightBit && !t.offer("8BITMIME"):
		return "8BITMIME"
	case t.job.utf8 && !t.offer("SMTPUTF8"):
		return "SMTPUTF8"
	case t.job.openEnd && !t.offer("CHUNKING"):
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
			if said == heard && t.pointless(commands[said].into) {
				return
			}
			t.say(commands[said].line)
			said++
		}
		*commands[heard].into, t.err = t.answer(commandTime)
		if t.err != nil {
			return
		}
		if commands[heard].into == &t.mail {
			t.open = t.mail.code/100 == 2
			if !t.open {
				commands = commands[:said] // what was said already is answered too
			}
		}
		if commands[heard].into.code == 421 {
			t.err = errGone
			return
		}
		heard++
	}
}

// pointless tells whether DATA need not be said: nobody is to get it.
func (t *transaction) pointless(into *reply) bool { return into == &t.data && t.accepted() == 0 }

// command is a line and where its answer goes.
type command struct {
	line string
	into *reply
}

func (t *transaction) commands() []command {
	list := make([]command, 0, len(t.job.turn)+3)
	if t.open {
		list = append(list, command{"RSET", new(reply)})
	}
	list = append(list, command{t.mailCommand(), &t.mail})
	for i, n := range t.job.turn {
		list = append(list, command{"RCPT TO:" + path(t.job.recipients[n].Address), &t.replies.recipients[i]})
	}
	if !t.job.openEnd {
		list = append(list, command{"DATA", &t.data})
	}
	return list
}

func (t *transaction) mailCommand() string {
	var line strings.Builder
	line.WriteString("MAIL FROM:" + path(t.job.sender))
	if t.offer("SIZE") {
		line.WriteString(" SIZE=" + strconv.FormatInt(t.size(), 10))
	}
	if t.job.eightBit {
		line.WriteString(" BODY=8BITMIME")
	}
	if t.job.utf8 {
		line.WriteString(" SMTPUTF8")
	}
	return line.String()
}

func (t *transaction) size() int64 { return int64(len(t.head)) + t.job.size }

// asText sends the message as DATA has it, up to the dot that completes it.
func (t *transaction) asText() {
	stuffer := &stuffer{out: t.out}
	t.out.WriteString(t.head)
	stuffer.begin = true
	if !t.copy(stuffer) {
		return
	}
	if !t.mayEnd() {
		t.unsent = true
		return
	}
	t.out.WriteString(".\r\n")
	t.complete()
}

// inChunk sends it as one chunk of BDAT, which changes nothing of a message
// that ends in the middle of a line.
func (t *transaction) inChunk() {
	t.say("BDAT " + strconv.FormatInt(t.size(), 10) + " LAST")
	t.out.WriteString(t.head)
	last := &withholder{out: t.out}
	if !t.copy(last) {
		return
	}
	if !t.mayEnd() {
		t.unsent = true
		return
	}
	last.release()
	t.complete()
}

// copy sends the content. When it cannot be read, nothing was sent; when it
// cannot be written, the smarthost may have said why.
func (t *transaction) copy(to io.Writer) bool {
	if t.block == nil {
		t.block = make([]byte, blockSize)
	}
	for {
		n, err := t.content.Read(t.block)
		t.conn.SetDeadline(time.Now().Add(blockTime))
		if _, failed := to.Write(t.block[:n]); failed != nil {
			t.conn.SetReadDeadline(time.Now().Add(time.Second))
			if t.end, _ = readReply(t.in); t.end.code < 400 {
				t.end = reply{}
			}
			t.err = failed
			return false
		}
		if err == io.EOF {
			return true
		}
		if err != nil {
			t.err, t.unsent = err, true
			return false
		}
	}
}

func (t *transaction) complete() {
	t.open = false
	t.end, t.err = t.answer(endTime)
	if t.err == nil && t.end.code == 421 {
		t.err = errGone
	}
}

// stuffer doubles a dot that begins a line: RFC 5321, 4.5.2.
type stuffer struct {
	out   *bufio.Writer
	begin bool // of a line
}

func (s *stuffer) Write(p []byte) (n int, err error) {
	n = len(p)
	for len(p) > 0 && err == nil {
		if s.begin && p[0] == '.' {
			s.out.WriteByte('.')
		}
		piece := p
		if i := bytes.Index(p, []byte("\n.")); i >= 0 {
			piece = p[:i+1]
		}
		s.begin = piece[len(piece)-1] == '\n'
		_, err = s.out.Write(piece)
		p = p[len(piece):]
	}
	return n, err
}

// withholder keeps the last byte back.
type withholder struct {
	out  *bufio.Writer
	last []byte
}

func (w *withholder) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	w.release()
	w.last = append(w.last[:0], p[len(p)-1])
	_, err := w.out.Write(p[:len(p)-1])
	return len(p), err
}

func (w *withholder) release() {
	w.out.Write(w.last)
	w.last = w.last[:0]
}
