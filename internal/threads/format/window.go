package format

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"outrigger/internal/threads"
)

const (
	// sourceSize is how much of a file is in memory: enough that reads are few.
	sourceSize = 256 << 10
	// excerptSize is how much of an unreadable piece is shown: a line of a page.
	excerptSize = 80
)

// source is a file as HierarchyDecoder sees it: a window that moves on, and
// the line it is at.
type source struct {
	r        io.Reader
	buf      []byte
	pos, end int
	mark     int   // the beginning of the piece that is being read
	line     int64 // from 1
	err      error // why the window cannot move on
}

// more gets bytes after those of the window, and keeps those from mark on as
// far as an excerpt needs them. It is false at the end of the file.
func (s *source) more() bool {
	if s.err != nil {
		return false
	}
	keep := s.pos
	if s.pos-s.mark <= excerptSize {
		keep = s.mark
	}
	copy(s.buf, s.buf[keep:s.end])
	s.pos, s.end, s.mark = s.pos-keep, s.end-keep, max(s.mark-keep, 0)
	n, err := io.ReadAtLeast(s.r, s.buf[s.end:], 1)
	s.end += n
	s.err = err
	return n > 0
}

// cut reports whether a file ended before what is around it says.
func cut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

// peek is the next byte; false at the end.
func (s *source) peek() (byte, bool) {
	if s.pos == s.end && !s.more() {
		return 0, false
	}
	return s.buf[s.pos], true
}

// next takes the next byte.
func (s *source) next() (byte, bool) {
	c, ok := s.peek()
	if ok {
		s.pos++
		if c == '\n' {
			s.line++
		}
	}
	return c, ok
}

// space passes over white space and gives the byte behind it, untaken.
func (s *source) space() (byte, bool) {
	for {
		c, ok := s.peek()
		if !ok || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c, ok
		}
		s.next()
	}
}

// piece is the beginning of what is being read, as far as it is still there.
func (s *source) piece() []byte {
	return s.buf[s.mark:min(s.end, s.mark+2*excerptSize)]
}

// excerpt makes the beginning of a piece fit to be shown: one line of text.
func excerpt(b []byte) string {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	b = b[:min(len(b), excerptSize)]
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r == utf8.RuneError:
			return '·'
		}
		return r
	}, string(b)))
}

// note counts a piece that could not be read, and lists the first of them.
func note(r *threads.Reading, line int64, text []byte, reason string) {
	r.Unreadable++
	if len(r.Lines) < threads.MaxListed {
		r.Lines = append(r.Lines, threads.Unreadable{Line: line, Text: excerpt(text), Reason: reason})
	}
}
