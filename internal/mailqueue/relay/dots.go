package relay

import (
	"bytes"

	"github.com/emersion/go-smtp"
)

// dotted checks a message as DATA has it, in pieces of any size, and finds its
// end.
type dotted struct{ lines }

// next gives what is to be passed on of the beginning of buf, of which it lies
// in the first read bytes. read 0: more must come first.
func (d *dotted) next(buf []byte) (piece []byte, read int, end bool, bad *smtp.SMTPError) {
	if len(buf) > 0 && buf[0] == '.' && d.place() == lineBegins {
		switch {
		case bytes.HasPrefix(buf, []byte(".\r\n")):
			return nil, len(".\r\n"), true, nil
		case len(buf) < len(".\r\n") && bytes.IndexByte(buf, '\n') < 0:
			return nil, 0, false, nil
		}
		buf, read = buf[1:], 1 // it was doubled
	}
	piece = buf
	if i := bytes.Index(buf, []byte("\n.")); i >= 0 {
		piece = buf[:i+1]
	}
	return piece, read + len(piece), false, d.check(piece)
}

// place is where in a line the next byte is.
func (d *dotted) place() ending {
	switch {
	case d.cr:
		return afterCR
	case d.open():
		return inLine
	}
	return lineBegins
}

// ending finds CRLF . CRLF in what comes in pieces.
type ending int

const (
	inLine ending = iota
	afterCR
	lineBegins // behind CRLF
	afterDot
	afterDotCR
	ended
)

// find says how many bytes it looked at: all of them, unless the end is among
// them.
func (e *ending) find(p []byte) int {
	for i, b := range p {
		switch {
		case b == '\n' && *e == afterDotCR:
			*e = ended
			return i + 1
		case b == '\n' && *e == afterCR:
			*e = lineBegins
		case b == '.' && *e == lineBegins:
			*e = afterDot
		case b == '\r' && *e == afterDot:
			*e = afterDotCR
		case b == '\r':
			*e = afterCR
		default:
			*e = inLine
		}
	}
	return len(p)
}
