package reencode

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/emersion/go-message"
)

var long = strings.Repeat("0123456789 ü=.", 500)

// read returns the bodies of a message, decoded, in the order of its parts.
func read(t *testing.T, text string) (bodies []string) {
	t.Helper()
	e, err := message.Read(strings.NewReader(text))
	if err != nil && !message.IsUnknownCharset(err) {
		t.Fatal(err)
	}
	err = e.Walk(func(_ []int, part *message.Entity, err error) error {
		if err != nil && !message.IsUnknownCharset(err) {
			return err
		}
		if part.MultipartReader() == nil {
			body, err := io.ReadAll(part.Body)
			if err != nil {
				return err
			}
			bodies = append(bodies, string(body))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bodies
}

func lines(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// Lines are short afterwards, and a mail library reads the same from both.
func TestShortLines(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"no MIME", "Subject: x\n\n" + long + "\n.\n" + long + "\n"},
		{"no header", "\n" + long + "\n"},
		{"no CRLF at the end", "Subject: x\n\n" + long},
		{"text", "MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n<p>" + long + "</p>\n"},
		{"another charset", "MIME-Version: 1.0\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit\n\n\xfc" + long + "\n"},
		{"not text", "MIME-Version: 1.0\nContent-Type: application/json\n\n{" + long + "}\n"},
		{"quoted-printable with a long line", "MIME-Version: 1.0\nContent-Type: text/plain\nContent-Transfer-Encoding: Quoted-Printable\n\n" + strings.Repeat("a=C3=BC", 500) + "\n"},
		{"base64 with a long line", "MIME-Version: 1.0\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\n" + strings.Repeat("QUJD", 500) + "\n"},
		{"parts", "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"a b\"\n\nignored\n--a b\nContent-Type: multipart/alternative; boundary=c\n\n" +
			"--c\n\n" + long + "\n--c\nContent-Type: text/html\n\n" + long + "\n\n--c--\n\n--a b\nContent-Type: application/octet-stream\nContent-Disposition: attachment\n\n" + long + "\n--a b--\n"},
		{"a message within", "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nSubject: y\n\n" + long + "\n--b--\n"},
		{"a long field", "References: " + strings.Repeat("<0123456789@example.com> ", 100) + "<last@example.com>\nSubject: x\n\ny\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := ShortLines(&out, strings.NewReader(lines(c.text))); err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitAfterSeq(out.String(), "\n") {
				if len(line) > maxLine+2 || line != "" && !strings.HasSuffix(line, "\r\n") {
					t.Fatalf("a line of %d bytes: %q", len(line), line)
				}
			}
			want, got := read(t, lines(c.text)), read(t, out.String())
			if c.name == "a message within" { // the library does not look into it
				want, got = read(t, inner(want)), read(t, inner(got))
			}
			if len(want) != len(got) {
				t.Fatalf("%d parts became %d", len(want), len(got))
			}
			for i := range want {
				if want[i] != got[i] {
					t.Errorf("part %d was %q, is %q", i, want[i], got[i])
				}
			}
			before, _ := message.Read(strings.NewReader(lines(c.text)))
			after, _ := message.Read(&out)
			for fields := before.Header.Fields(); fields.Next(); {
				if key := fields.Key(); key != "Content-Transfer-Encoding" && after.Header.Get(key) != fields.Value() {
					t.Errorf("%s was %q, is %q", key, fields.Value(), after.Header.Get(key))
				}
			}
		})
	}
}

func inner(bodies []string) string { return strings.Join(bodies, "") }

func TestWhatStaysAsItIs(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"DKIM", "DKIM-Signature: v=1\nSubject: x\n\n" + long, errSigned},
		{"ARC", "ARC-Message-Signature: i=1\nSubject: x\n\n" + long, errSigned},
		{"signed", "Content-Type: multipart/signed; boundary=b\n\n--b\n\n" + long + "\n--b--\n", errSigned},
		{"signed within", "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/signed; boundary=b\n\n--b\n\n" + long + "\n--b--\n\n--a--\n", errSigned},
		{"too deep", strings.Repeat("Content-Type: message/rfc822\n\n", 30), errDepth},
	} {
		if err := ShortLines(io.Discard, strings.NewReader(lines(c.text))); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, text := range []string{"no header at all\n\nx\n", "Content-Type: multipart/mixed\n\n--b\n\nx\n--b--\n", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n",
		"Content-Transfer-Encoding: base64\n\n%%%%\n"} {
		if err := ShortLines(io.Discard, strings.NewReader(lines(text))); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// Whatever a message is, it is rewritten with lines that end in CRLF, or not at
// all.
func FuzzShortLines(f *testing.F) {
	for _, s := range []string{"Subject: x\r\n\r\nb", "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b--\r\n", "Content-Type: message/rfc822\r\n\r\nA: b\r\n\r\nx", "A:\r\n\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\n") {
			return // the relay takes no such message
		}
		var out bytes.Buffer
		if err := ShortLines(&out, strings.NewReader(text)); err != nil {
			return
		}
		rest := strings.ReplaceAll(out.String(), "\r\n", "")
		if strings.ContainsAny(rest, "\r\n") || !strings.HasSuffix(out.String(), "\r\n") {
			t.Errorf("%q became %q", text, out.String())
		}
	})
}
