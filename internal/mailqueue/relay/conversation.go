package relay

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/work"
)

const (
	// maxReplyLine and maxReplyLines bound what a smarthost may say: RFC 5321
	// has 512 bytes a line; some say more.
	maxReplyLine  = 4 << 10
	maxReplyLines = 100
)

// conversation is a connection to the smarthost. It pipelines (RFC 2920): what
// is said together is written together.
type conversation struct {
	conn   net.Conn
	in     *bufio.Reader
	out    *bufio.Writer
	offers map[string]string // of EHLO, by keyword
	used   int               // messages that it had
	open   bool              // a transaction was begun and not ended
	block  []byte            // what content passes through

	letGo func() bool // of the context that interrupts it
}

// newConversation is over when ctx ends.
func newConversation(ctx context.Context, conn net.Conn) *conversation {
	c := &conversation{}
	c.over(conn)
	c.until(ctx)
	return c
}

// until has it be over when ctx ends.
func (c *conversation) until(ctx context.Context) {
	if c.letGo != nil {
		c.letGo()
	}
	conn := c.conn
	c.letGo = context.AfterFunc(ctx, func() { conn.Close() })
}

func (c *conversation) over(conn net.Conn) {
	c.conn, c.in, c.out = conn, bufio.NewReaderSize(conn, maxReplyLine), bufio.NewWriterSize(conn, 16<<10)
}

// encrypt goes on within TLS; what was heard before is forgotten.
func (c *conversation) encrypt(config *tls.Config) error {
	conn := tls.Client(c.conn, config)
	c.conn.SetDeadline(time.Now().Add(commandTime))
	if err := conn.Handshake(); err != nil {
		return err
	}
	c.over(conn)
	return nil
}

// offer tells whether the smarthost has an extension.
func (c *conversation) offer(keyword string) bool {
	_, ok := c.offers[keyword]
	return ok
}

// say writes a command without waiting for its answer.
func (c *conversation) say(line string) {
	c.out.WriteString(line)
	c.out.WriteString("\r\n") // an error of either comes again at the flush
}

// ask says a command and waits for its answer.
func (c *conversation) ask(line string) (reply, error) {
	c.say(line)
	return c.answer(commandTime)
}

// answer reads the next answer, having sent all that was said.
func (c *conversation) answer(patience time.Duration) (reply, error) {
	if c.out.Buffered() > 0 || c.in.Buffered() == 0 {
		c.conn.SetDeadline(time.Now().Add(patience))
	}
	if c.out.Buffered() > 0 {
		if err := c.out.Flush(); err != nil {
			return reply{}, err
		}
	}
	return readReply(c.in)
}

// quit says goodbye without waiting for an answer.
func (c *conversation) quit() {
	c.say("QUIT")
	c.conn.SetDeadline(time.Now().Add(time.Second))
	c.out.Flush()
	c.close()
}

func (c *conversation) close() {
	c.letGo()
	c.conn.Close()
}

// reply is an answer of the smarthost.
type reply struct {
	code  int
	lines []string // without the code
}

// text is the answer in one line, without its code.
func (r reply) text() string { return strings.Join(r.lines, " ") }

// String is the whole answer as text that both databases take.
func (r reply) String() string {
	return work.ReadAnswer(strings.NewReader(strings.TrimSpace(strconv.Itoa(r.code) + " " + r.text())))
}

var errNotSMTP = errors.New("it does not speak SMTP")

// readReply reads an answer of one line or more: RFC 5321, 4.2.1.
func readReply(in *bufio.Reader) (r reply, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return r, fmt.Errorf("%w: a line of its answer does not end", errNotSMTP)
		}
		if err != nil {
			return r, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		code, last, ok := cutCode(text)
		if !ok || r.code != 0 && code != r.code || len(r.lines) == maxReplyLines {
			return r, fmt.Errorf("%w: %q", errNotSMTP, text[:min(len(text), 80)])
		}
		r.code = code
		r.lines = append(r.lines, strings.TrimSpace(text[min(4, len(text)):]))
		if last {
			return r, nil
		}
	}
}

// cutCode reads the beginning of a line: a code, and whether more lines follow.
func cutCode(line string) (code int, last, ok bool) {
	if len(line) < 3 {
		return 0, false, false
	}
	code, err := strconv.Atoi(line[:3])
	if err != nil || code < 200 || code > 599 {
		return 0, false, false
	}
	if len(line) == 3 || line[3] == ' ' {
		return code, true, true
	}
	return code, false, line[3] == '-'
}
