package reencode

import (
	"encoding/base64"
	"io"
	"mime/quotedprintable"
	"strings"

	"github.com/emersion/go-message/textproto"
)

// base64Line is how many bytes become a line of base64: RFC 2045, 6.8, allows
// 76 characters.
const base64Line = 57

// bodyEncoding is how the body of a part is written, which the header is made
// to say.
func bodyEncoding(head *textproto.Header, kind string) func(io.Writer, io.Reader) error {
	switch strings.ToLower(strings.TrimSpace(head.Get("Content-Transfer-Encoding"))) {
	case "quoted-printable":
		return func(w io.Writer, r io.Reader) error { return quote(w, quotedprintable.NewReader(r)) }
	case "base64":
		return func(w io.Writer, r io.Reader) error {
			return encode64(w, base64.NewDecoder(base64.StdEncoding, r)) // it skips CR and LF
		}
	}
	if strings.HasPrefix(kind, "text/") {
		head.Set("Content-Transfer-Encoding", "quoted-printable")
		return quote
	}
	head.Set("Content-Transfer-Encoding", "base64")
	return encode64
}

// quote writes quoted-printable. A last line without its CRLF stays one for
// the reader, by a soft line break.
func quote(w io.Writer, r io.Reader) error {
	in, out := &tail{w: io.Discard, last: '\n'}, quotedprintable.NewWriter(w)
	if _, err := io.Copy(out, io.TeeReader(r, in)); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if in.last == '\n' {
		return nil
	}
	_, err := io.WriteString(w, "=\r\n")
	return err
}

// encode64 writes base64 in lines.
func encode64(w io.Writer, r io.Reader) error {
	raw := make([]byte, base64Line)
	line := make([]byte, base64.StdEncoding.EncodedLen(base64Line)+len("\r\n"))
	for {
		n, err := io.ReadFull(r, raw)
		if n > 0 {
			size := base64.StdEncoding.EncodedLen(n)
			base64.StdEncoding.Encode(line, raw[:n])
			copy(line[size:], "\r\n")
			if _, err := w.Write(line[:size+2]); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return err
		}
	}
}
