package branchmask

import "fmt"

// javaFlags are the flags that (?…) turns on and off.
type javaFlags uint8

const (
	flagFold         javaFlags = 1 << iota // i
	flagUnixLines                          // d
	flagMultiline                          // m
	flagDotAll                             // s
	flagUnicodeCase                        // u
	flagComments                           // x
	flagUnicodeClass                       // U
)

// javaScanner reads a pattern the way java.util.regex does: where white space
// and comments are skipped under (?x) is part of the dialect, and differs
// from place to place. Past the end it reads zeros.
type javaScanner struct {
	text  []rune // without \Q and \E, two zeros at the end
	from  []int  // where each of text came from in the pattern
	end   int    // how many of text are pattern
	cur   int
	flags javaFlags
}

func newJavaScanner(pattern string) *javaScanner {
	s := &javaScanner{}
	s.unquote([]rune(pattern))
	s.end = len(s.text)
	last := len([]rune(pattern))
	s.text = append(s.text, 0, 0)
	s.from = append(s.from, last, last)
	return s
}

// unquote replaces what is between \Q and \E by escapes. Letters stay as they
// are, and so do digits but for a first one, which an escape in front of \Q
// must not swallow.
func (s *javaScanner) unquote(pattern []rune) {
	quoted, first := false, false
	add := func(i int, rs ...rune) {
		for _, r := range rs {
			s.text = append(s.text, r)
			s.from = append(s.from, i)
		}
	}
	for i := 0; i < len(pattern); i++ {
		r := pattern[i]
		var next rune
		if i+1 < len(pattern) {
			next = pattern[i+1]
		}
		switch {
		case r == '\\' && quoted && next == 'E':
			quoted = false
			i++
		case r == '\\' && !quoted && next == 'Q':
			quoted, first = true, true
			i++
			continue
		case r == '\\' && !quoted && i+1 < len(pattern):
			add(i, r)
			i++
			add(i, next)
		case isASCIIDigit(r) && first:
			add(i, '\\', 'x', '3', r)
		case quoted && r <= 127 && !isASCIILetter(r) && !isASCIIDigit(r):
			add(i, '\\', r)
		default:
			add(i, r)
		}
		first = false
	}
}

func (s *javaScanner) has(f javaFlags) bool { return s.flags&f != 0 }

func (s *javaScanner) at(i int) rune {
	if i < len(s.text) {
		return s.text[i]
	}
	return 0
}

// atEnd reports whether nothing is left.
func (s *javaScanner) atEnd() bool { return s.cur >= s.end }

// peek returns the next character, which becomes the current one.
func (s *javaScanner) peek() rune {
	if s.has(flagComments) {
		s.skipComments()
	}
	return s.at(s.cur)
}

// next steps over the current character and peeks.
func (s *javaScanner) next() rune {
	s.cur++
	return s.peek()
}

// read takes the current character; under (?x) the first that counts.
func (s *javaScanner) read() rune {
	r := s.peek()
	s.cur++
	return r
}

// skip steps over the current character and takes the one after it as it is.
func (s *javaScanner) skip() rune {
	r := s.at(s.cur + 1)
	s.cur += 2
	return r
}

// skipComments steps over white space and comments.
func (s *javaScanner) skipComments() {
	for {
		switch r := s.at(s.cur); {
		case asciiSpace.contains(r):
			s.cur++
		case r == '#':
			s.cur++
			for r := s.at(s.cur); r != 0 && !s.endsLine(r); r = s.at(s.cur) {
				s.cur++
			}
		default:
			return
		}
	}
}

func (s *javaScanner) endsLine(r rune) bool {
	if s.has(flagUnixLines) {
		return r == '\n'
	}
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// accept takes r or refuses the pattern.
func (s *javaScanner) accept(r rune, reason string) {
	if at := s.cur; s.read() != r {
		s.refuse(at, "%s", reason)
	}
}

// refuse gives up with the position of text[i].
func (s *javaScanner) refuse(i int, format string, args ...any) {
	i = max(0, min(i, s.end))
	panic(&SyntaxError{s.from[i], fmt.Sprintf(format, args...)})
}

// refused turns the panic of a refusal into an error.
func refused(err *error) {
	switch r := recover().(type) {
	case nil:
	case *SyntaxError:
		*err = r
	default:
		panic(r)
	}
}
