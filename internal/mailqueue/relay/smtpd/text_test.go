package smtpd

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
)

// plainly is what text does, a byte at a time with the whole text at hand.
func plainly(text []byte) (err *Reply, open bool) {
	length := 0
	for i, b := range text {
		switch {
		case b == '\n' && (i == 0 || text[i-1] != '\r'):
			return replyBareLF, false
		case b != '\n' && i > 0 && text[i-1] == '\r':
			return replyBareCR, false
		case b == 0:
			return replyNUL, false
		case b == '\n':
			length = 0
		case b != '\r':
			length++
		}
	}
	if bytes.HasSuffix(text, []byte("\r")) {
		return replyBareCR, false
	}
	return nil, length > 0
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       *Reply
		open       bool
	}{
		{"nothing", "", nil, false},
		{"an empty line", "\r\n", nil, false},
		{"two lines", "a\r\nb\r\n", nil, false},
		{"no end", "a\r\nb", nil, true},
		{"a bare LF", "a\nb\r\n", replyBareLF, false},
		{"a bare LF first", "\na\r\n", replyBareLF, false},
		{"a bare CR", "a\rb\r\n", replyBareCR, false},
		{"two CRs", "a\r\r\n", replyBareCR, false},
		{"a CR at the end", "a\r", replyBareCR, false},
		{"LF CR", "a\n\r", replyBareLF, false},
		{"NUL", "a\x00b\r\n", replyNUL, false},
		{"a long line", strings.Repeat("x", 5000) + "\r\n", nil, false},
		{"a long line without an end", strings.Repeat("x", 5000), nil, true},
		{"8 bits", "\xff\xfe\r\n", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for size := 1; size <= len(c.text)+1; size = size*2 + 1 {
				err, open := inPieces([]byte(c.text), size)
				if err != c.want || open != c.open {
					t.Errorf("in pieces of %d: %v, open %v; want %v, %v", size, err, open, c.want, c.open)
				}
			}
		})
	}
}

func inPieces(p []byte, size int) (*Reply, bool) {
	var l text
	for len(p) > 0 {
		n := min(size, len(p))
		if err := l.check(p[:n]); err != nil {
			return err, false
		}
		p = p[n:]
	}
	if err := l.end(); err != nil {
		return err, false
	}
	return nil, l.open
}

// However the text is cut, text finds a fault exactly where there is one.
// Which of several it names may differ.
func FuzzText(f *testing.F) {
	for _, s := range []string{"a\r\nb\r\n", "a\nb", "a\rb", "a\r\r\n", "\x00", strings.Repeat("x", 999), "\r\n.\r\n", "\n.\r\n"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		want, wantOpen := plainly(text)
		got, open := inPieces(text, 1+size&0xfff)
		if (got == nil) != (want == nil) || open != wantOpen {
			t.Errorf("%q: %v, open %v; want %v, %v", text, got, open, want, wantOpen)
		}
	})
}

// Whatever comes behind DATA is read to CRLF . CRLF and no further, and what
// is taken is what was said without the dots that were doubled.
func FuzzData(f *testing.F) {
	for _, s := range []string{"a\r\n.\r\nb", "\n.\r\n", "\r\n.\n", "\r.\r", "\r\n.\r\r\n", "\r\n..\r\n", ".\r\n", strings.Repeat("x", 8191) + "\r\n.\r\n", strings.Repeat("x", 8192) + "\r\n.\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		r := &rig{Server: New(Options{MaxMessage: 1 << 20}), box: &inbox{}}
		client, server := net.Pipe()
		defer client.Close()
		go func() {
			client.Write(said)
			client.Close()
		}()
		c := newConn(r.Server, server)
		defer server.Close()
		c.env = &Envelope{}
		r.o.Backend = r.box
		m := newIncoming(c)
		c.beginPace()
		cut := c.readText(m)
		body, rest, ended := bytes.Cut(append([]byte("\r\n"), said...), []byte("\r\n.\r\n"))
		if ended == (cut != nil || c.closing) {
			t.Fatalf("%q: cut %v, closing %v; it ends: %v", said, cut, c.closing, ended)
		}
		if !ended {
			return
		}
		if left, _ := io.ReadAll(c.in); !bytes.Equal(left, rest) {
			t.Errorf("%q: left %q, want %q", said, left, rest)
		}
		body = append(body, "\r\n"...)[2:]
		want := bytes.TrimPrefix(bytes.ReplaceAll(body, []byte("\r\n."), []byte("\r\n")), []byte("."))
		if bad, _ := plainly(body); (bad == nil) != (m.bad == nil) {
			t.Errorf("%q: %v, want %v", said, m.bad, bad)
		}
		if got := m.msg.(*taken).data.Bytes(); m.bad == nil && !bytes.Equal(got, want) {
			t.Errorf("%q came as %q", said, got)
		}
	})
}
