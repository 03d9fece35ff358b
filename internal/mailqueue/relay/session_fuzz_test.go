package relay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/textproto"
	"os"
	"strings"
	"testing"
	"time"

	"outrigger/internal/mailqueue"
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
	w := newWorld(f, sqlite(f), setup{noSend: true, server: func(o *ServerOptions) { o.MaxMessage, o.MaxRecipients = 1<<16, 5 }})
	w.server.silence = time.Millisecond
	f.Fuzz(func(t *testing.T, said []byte) {
		replies := converse(t, w.addr, said)
		acknowledged := strings.Count(replies, "250 2.0.0 Queued as ")
		list, err := w.queue.Messages(t.Context(), mailqueue.MessageFilter{Limit: 1001})
		must(t, err)
		if len(list) != acknowledged {
			t.Errorf("%d messages are there, %d were acknowledged:\n%s", len(list), acknowledged, replies)
		}
		for _, m := range list {
			text, err := w.queue.Look(t.Context(), m.ID)
			must(t, err)
			_, rest := cutReceived(t, string(text))
			if bad, _ := plainly([]byte(rest)); bad != nil {
				t.Errorf("%q was taken", rest)
			}
			if !bytes.Contains(bytes.ToUpper(said), []byte("BDAT")) && !bytes.Contains(said, append(stuffed([]byte(rest)), ".\r\n"...)) {
				t.Errorf("%q was not said", rest)
			}
			must(t, w.queue.Delete(t.Context(), m.ID))
		}
	})
}

// converse says everything at once and gives all the answers.
func converse(t *testing.T, addr string, said []byte) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
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

// stuffed is a message as DATA has it.
func stuffed(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	var buf bytes.Buffer
	out := bufio.NewWriter(&buf)
	dots := textproto.NewWriter(out).DotWriter()
	dots.Write(text)
	dots.Close()
	out.Flush()
	return bytes.TrimSuffix(buf.Bytes(), []byte(".\r\n"))
}
