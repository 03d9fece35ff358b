package smtpd

import "bytes"

// text checks what comes in pieces: every line ends in CRLF, neither byte of it
// occurs elsewhere, and there is no NUL. Lines may be of any length.
type text struct {
	cr   bool // the last byte was a CR
	open bool // the last line has no end yet
}

// check looks at the next piece and gives the first thing wrong with it.
func (t *text) check(p []byte) *Reply {
	for len(p) > 0 {
		if t.cr {
			if p[0] != '\n' {
				return replyBareCR
			}
			t.cr, t.open = false, false
			p = p[1:]
			continue
		}
		i := bytes.IndexByte(p, '\r')
		line := p
		if i >= 0 {
			line = p[:i]
		}
		switch {
		case bytes.IndexByte(line, '\n') >= 0:
			return replyBareLF
		case bytes.IndexByte(line, 0) >= 0:
			return replyNUL
		}
		t.open, t.cr = true, i >= 0
		p = p[min(len(line)+1, len(p)):]
	}
	return nil
}

// end looks at what is wrong with the end of the text.
func (t *text) end() *Reply {
	if t.cr {
		return replyBareCR
	}
	return nil
}
