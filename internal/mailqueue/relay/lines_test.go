package relay

import (
	"bytes"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"
)

// plainly is what lines does, a byte at a time with the whole text at hand.
func plainly(text []byte) (err *smtp.SMTPError, open bool) {
	length := 0
	for i, b := range text {
		switch {
		case b == '\n' && (i == 0 || text[i-1] != '\r'):
			return errBareLF, false
		case b != '\n' && i > 0 && text[i-1] == '\r':
			return errBareCR, false
		case b == 0:
			return errNUL, false
		case b == '\n':
			length = 0
		case b != '\r':
			length++
		}
	}
	if bytes.HasSuffix(text, []byte("\r")) {
		return errBareCR, false
	}
	return nil, length > 0
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		name, text string
		want       *smtp.SMTPError
		open       bool
	}{
		{"nothing", "", nil, false},
		{"an empty line", "\r\n", nil, false},
		{"two lines", "a\r\nb\r\n", nil, false},
		{"no end", "a\r\nb", nil, true},
		{"a bare LF", "a\nb\r\n", errBareLF, false},
		{"a bare LF first", "\na\r\n", errBareLF, false},
		{"a bare CR", "a\rb\r\n", errBareCR, false},
		{"two CRs", "a\r\r\n", errBareCR, false},
		{"a CR at the end", "a\r", errBareCR, false},
		{"LF CR", "a\n\r", errBareLF, false},
		{"NUL", "a\x00b\r\n", errNUL, false},
		{"long lines", long + "\r\n" + long + "\r\n", nil, false},
		{"a long one without an end", long, nil, true},
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

func inPieces(text []byte, size int) (*smtp.SMTPError, bool) {
	var l lines
	for len(text) > 0 {
		n := min(size, len(text))
		if err := l.check(text[:n]); err != nil {
			return err, false
		}
		text = text[n:]
	}
	if err := l.end(); err != nil {
		return err, false
	}
	return nil, l.open()
}

// However the text is cut, lines finds a fault exactly where there is one.
// Which of several it names may differ.
func FuzzLines(f *testing.F) {
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

// The end of a message is where CRLF . CRLF is, and nothing that looks like it.
func FuzzEnding(f *testing.F) {
	for _, s := range []string{"a\r\n.\r\nb", "\n.\r\n", "\r\n.\n", "\r.\r", "\r\n.\r\r\n", "\r\n..\r\n", ".\r\n"} {
		f.Add([]byte(s), 2)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		want := len(text)
		if i := bytes.Index(append([]byte("\r\n"), text...), []byte("\r\n.\r\n")); i >= 0 {
			want = i + 3
		}
		end, read := lineBegins, 0
		for read < len(text) && end != ended {
			n := min(1+size&0xff, len(text)-read)
			read += end.find(text[read : read+n])
		}
		if read != want || (end == ended) != bytes.Contains(append([]byte("\r\n"), text...), []byte("\r\n.\r\n")) {
			t.Errorf("%q: read %d bytes, ended %v; want %d", text, read, end == ended, want)
		}
	})
}

// What dotted takes away is what a client adds, however the text is cut, and it
// finds the same end.
func FuzzDots(f *testing.F) {
	for _, s := range []string{".\r\n", "..\r\n.a\r\n", "a\r\n.\r\n", "\r\n\r\n", strings.Repeat("x", 3000) + ".\r\n"} {
		f.Add([]byte(s), 5)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if err, open := plainly(text); err != nil || open {
			return
		}
		const behind = "QUIT\r\n"
		sent := append(append(stuffed(text), ".\r\n"...), behind...)
		size = 3 + size&0xff
		var d dotted
		var got, buf []byte
		for rest := sent; ; {
			n := min(size, len(rest))
			buf, rest = append(buf, rest[:n]...), rest[n:]
			for {
				piece, read, ended, bad := d.next(buf)
				if bad != nil {
					t.Fatalf("%q is sent as %q: %v", text, sent, bad)
				}
				got, buf = append(got, piece...), buf[read:]
				if ended {
					if left := string(buf) + string(rest); left != behind || !bytes.Equal(got, text) {
						t.Errorf("%q came as %q, with %q behind it", text, got, left)
					}
					return
				}
				if read == 0 {
					break
				}
			}
			if n == 0 {
				t.Fatalf("%q is sent as %q: it has no end", text, sent)
			}
		}
	})
}

func FuzzInspector(f *testing.F) {
	f.Add([]byte(letter))
	f.Add([]byte("Subject: a\r\n b\r\n\tc\r\nReceived: x\r\n\r\nReceived: y"))
	f.Add([]byte("Subject: =?utf-8?b?w7w=?=\r\nMessage-Id :<a>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var whole, bytewise inspector
		whole.Write(text)
		for i := range text {
			bytewise.Write(text[i : i+1])
		}
		whole.close()
		bytewise.close()
		if whole.received != bytewise.received || whole.subject != bytewise.subject || whole.messageID != bytewise.messageID ||
			whole.eightBit != bytewise.eightBit || whole.utf8 != bytewise.utf8 {
			t.Errorf("at once %+v, by bytes %+v", whole, bytewise)
		}
		if len(whole.subject) > maxSubject+len("…") || strings.ContainsAny(whole.subject, "\x00\r\n") {
			t.Errorf("the subject is %q", whole.subject)
		}
	})
}
