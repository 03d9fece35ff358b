package smtpd

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// Whatever a client says, the relay answers and goes on; what it has
// acknowledged is there, each message as it stands in what was said, and
// nothing else is.
func FuzzSession(f *testing.F) {
	for _, s := range []string{
		"EHLO x\r\n" + data + head + "a" + end + "QUIT\r\n",
		"HELO x\r\n" + data + "..a\r\n." + end + data + end,
		"EHLO x\r\n" + data + head + "a\n.\r\n" + mail + rcpt + "DATA\r\nb" + end,
		"EHLO x\r\n" + data + "a\r\n.\rb" + end + "NOOP\r\n",
		"EHLO x\r\n" + mail + rcpt + "BDAT 3\r\na\r\nBDAT 3 LAST\r\nb\r\nQUIT\r\n",
		"EHLO x\r\n" + mail + rcpt + "BDAT 0\r\nRSET\r\nBDAT 2 LAST\r\nx\r\n",
		"EHLO x\r\nMAIL FROM:<ü@x> SMTPUTF8 BODY=8BITMIME SIZE=10\r\nRCPT TO:<\"a b\"@x>\r\nDATA\r\n.\r\n",
		"STARTTLS\r\nAUTH PLAIN\r\n\r\n*\r\nVRFY\r\nRSET\r\n\x00",
	} {
		f.Add([]byte(s))
	}
	r := newRig(f, func(o *Options) { o.MaxMessage, o.MaxRecipients = 1<<16, 5 })
	r.silence = time.Millisecond
	f.Fuzz(func(t *testing.T, said []byte) {
		before := len(r.box.messages())
		replies := converse(t, r.addr, said)
		list := r.box.messages()[before:]
		if acknowledged := strings.Count(replies, "250 2.0.0 Queued as "); len(list) != acknowledged {
			t.Errorf("%d messages are there, %d were acknowledged:\n%s", len(list), acknowledged, replies)
		}
		for _, m := range list {
			text := m.data.Bytes()
			if bad, _ := plainly(text); bad != nil {
				t.Errorf("%q was taken", text)
			}
			if !bytes.Contains(bytes.ToUpper(said), []byte("BDAT")) && !bytes.Contains(undotted(said), undotted(append([]byte("\r\n"), text...))) {
				t.Errorf("%q was not said", text)
			}
		}
	})
}

// converse says everything at once and gives all the answers.
func converse(t *testing.T, addr string, said []byte) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	go func() {
		conn.Write(said)
		conn.(*net.TCPConn).CloseWrite()
	}()
	replies, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("no end came; heard %q", replies)
	}
	// Any other error is a reset, where more was said than is read.
	return string(replies)
}

// undotted is a text without the dots that lines begin with, doubled or not.
func undotted(text []byte) []byte {
	for {
		shorter := bytes.ReplaceAll(text, []byte("\r\n."), []byte("\r\n"))
		if len(shorter) == len(text) {
			return text
		}
		text = shorter
	}
}
