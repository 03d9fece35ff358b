// Package reencode rewrites a message so that its lines are short enough for
// any mail server. What a reader sees stays the same: bodies that were sent as
// they are become quoted-printable or base64 (RFC 2045), and long header fields
// are folded.
package reencode

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/emersion/go-message/textproto"
)

// maxLine is the longest line that every mail server takes, without its CRLF:
// RFC 5321, 4.5.3.1.6.
const maxLine = 998

// maxDepth bounds parts within parts; no mail program writes half as many.
const maxDepth = 20

// errSigned is for a message whose body a signature covers as it is encoded.
var errSigned = errors.New("a signature covers the encoded message")

// errDepth is for a message made to cost memory.
var errDepth = errors.New("the message has parts in parts in parts")

// signatures are fields of signatures over the encoded body: RFC 6376, RFC 8617
// and, older, RFC 4870.
var signatures = []string{"Dkim-Signature", "Arc-Message-Signature", "Domainkey-Signature"}

// ShortLines reads a message and writes it with lines of at most maxLine bytes
// where that can be: a word of a header field that is longer stays. The last
// line ends in CRLF. It fails with errSigned, with what is wrong with the
// message, or with an error of r or w.
func ShortLines(w io.Writer, r io.Reader) error {
	in := bufio.NewReader(r)
	head, err := textproto.ReadHeader(in)
	if err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	for _, name := range signatures {
		if head.Has(name) {
			return errSigned
		}
	}
	if !head.Has("Mime-Version") {
		head.Add("MIME-Version", "1.0")
	}
	out := &tail{w: w}
	begin := func(h textproto.Header) (io.Writer, error) { return out, textproto.WriteHeader(out, h) }
	if err := writeEntity(out, head, in, 0, begin); err != nil {
		return err
	}
	return out.end()
}

// writeEntity writes a message or one of its parts: the header through begin,
// which gives where the body goes.
func writeEntity(w io.Writer, head textproto.Header, body io.Reader, depth int, begin func(textproto.Header) (io.Writer, error)) error {
	kind, params, err := mime.ParseMediaType(head.Get("Content-Type"))
	if err != nil {
		kind = "text/plain" // RFC 2045, 5.2
	}
	switch {
	case depth > maxDepth:
		return errDepth
	case kind == "multipart/signed":
		return errSigned
	case strings.HasPrefix(kind, "multipart/"):
		return writeMultipart(head, body, params["boundary"], depth, begin)
	case kind == "message/rfc822" || kind == "message/global":
		return writeMessage(head, body, depth, begin)
	}
	encode := bodyEncoding(&head, kind)
	to, err := begin(fold(head))
	if err != nil {
		return err
	}
	return encode(to, body)
}

func writeMultipart(
	head textproto.Header, body io.Reader, boundary string, depth int, begin func(textproto.Header) (io.Writer, error),
) error {
	to, err := begin(fold(head))
	if err != nil {
		return err
	}
	parts, out := textproto.NewMultipartReader(body, boundary), textproto.NewMultipartWriter(to)
	if err := out.SetBoundary(boundary); err != nil {
		return fmt.Errorf("writing the parts: %w", err)
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return out.Close()
		}
		if err == nil {
			err = writeEntity(to, part.Header, part, depth+1, out.CreatePart)
		}
		if err != nil {
			return fmt.Errorf("reading a part: %w", err)
		}
	}
}

// writeMessage writes a message within a message, whose transfer encoding must
// be none: RFC 2046, 5.2.1.
func writeMessage(head textproto.Header, body io.Reader, depth int, begin func(textproto.Header) (io.Writer, error)) error {
	to, err := begin(fold(head))
	if err != nil {
		return err
	}
	in := bufio.NewReader(body)
	inner, err := textproto.ReadHeader(in)
	if err != nil {
		return fmt.Errorf("reading the header of an attached message: %w", err)
	}
	return writeEntity(to, inner, in, depth+1, func(h textproto.Header) (io.Writer, error) { return to, textproto.WriteHeader(to, h) })
}

// fold breaks fields with long lines at white space: RFC 5322, 2.2.3.
func fold(head textproto.Header) textproto.Header {
	var raws [][]byte
	for fields := head.Fields(); fields.Next(); {
		raw, err := fields.Raw()
		if err != nil { // a field of ours; it is short
			raw = []byte(fields.Key() + ": " + fields.Value() + "\r\n")
		}
		raws = append(raws, foldField(raw))
	}
	var folded textproto.Header
	for i := len(raws) - 1; i >= 0; i-- { // the last one added is the first
		folded.AddRaw(raws[i])
	}
	return folded
}

func foldField(raw []byte) []byte {
	var out []byte
	for line := range bytes.Lines(raw) {
		for len(line) > maxLine+len("\r\n") {
			at := bytes.LastIndexAny(line[1:maxLine], " \t") + 1
			if at == 0 || len(bytes.TrimSpace(line[:at])) == 0 {
				break // a word as long as that cannot be broken
			}
			out = append(append(out, line[:at]...), "\r\n"...)
			line = line[at:] // with the space that continues the field
		}
		out = append(out, line...)
	}
	return out
}

// tail passes on what is written and remembers its end.
type tail struct {
	w    io.Writer
	last byte
}

func (t *tail) Write(p []byte) (int, error) {
	if len(p) > 0 {
		t.last = p[len(p)-1]
	}
	return t.w.Write(p)
}

// end completes the last line.
func (t *tail) end() error {
	if t.last == '\n' {
		return nil
	}
	_, err := t.w.Write([]byte("\r\n"))
	return err
}
