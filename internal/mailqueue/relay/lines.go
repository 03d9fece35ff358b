package relay

import (
	"bytes"

	"github.com/emersion/go-smtp"
)

// What makes a line one that others would read differently, so that a message
// could be smuggled in it. How long it is does not: mail programs write lines
// longer than the 998 bytes of RFC 5321, 4.5.3.1.6, and most servers take them.
var (
	errBareLF = refusal(554, 5, 6, 0, "There is a line feed without a carriage return before it; lines end in CRLF.")
	errBareCR = refusal(554, 5, 6, 0, "There is a carriage return without a line feed behind it; lines end in CRLF.")
	errNUL    = refusal(554, 5, 6, 0, "There is a NUL byte in the message.")
)

func refusal(code, class, subject, detail int, text string) *smtp.SMTPError {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{class, subject, detail}, Message: text}
}

// lines checks text that comes in pieces: every line ends in CRLF, and neither
// byte of it occurs elsewhere.
type lines struct {
	begun bool // there is something of a line
	cr    bool // the last byte was a CR
}

// check looks at the next piece and gives the first thing wrong with it.
func (l *lines) check(p []byte) *smtp.SMTPError {
	for len(p) > 0 {
		if l.cr {
			if p[0] != '\n' {
				return errBareCR
			}
			*l = lines{}
			p = p[1:]
			continue
		}
		text, ended := p, false
		if i := bytes.IndexByte(p, '\n'); i >= 0 {
			text, ended = p[:i], true
		}
		p = p[min(len(text)+1, len(p)):]
		if err := l.line(text, ended); err != nil {
			return err
		}
	}
	return nil
}

// line looks at the text up to a line feed, or at what there is of it yet.
func (l *lines) line(text []byte, ended bool) *smtp.SMTPError {
	cr := bytes.IndexByte(text, '\r')
	switch {
	case cr >= 0 && cr < len(text)-1:
		return errBareCR
	case cr >= 0:
		text = text[:cr]
	case ended:
		return errBareLF
	}
	l.begun = l.begun || len(text) > 0
	switch {
	case bytes.IndexByte(text, 0) >= 0:
		return errNUL
	case ended:
		l.begun = false
	default:
		l.cr = cr >= 0
	}
	return nil
}

// open tells whether the text ends without a CRLF, which only the chunks of
// BDAT can do.
func (l *lines) open() bool { return l.begun }

// end looks at what is wrong with the end of the text.
func (l *lines) end() *smtp.SMTPError {
	if l.cr {
		return errBareCR
	}
	return nil
}
