package branchmask

import (
	"unicode"
	"unicode/utf16"
)

// escape parses from \ on. It gives a node, or nil and a literal character.
// In a class only literals and sets of characters are possible; startsRange
// says that - follows there.
func (p *javaParser) escape(inClass, startsRange bool) (node, rune) {
	at := p.cur
	r := p.at(p.cur + 1)
	if r == 'p' || r == 'P' {
		return char{p.property()}, 0
	}
	if p.cur+1 >= p.end {
		p.refuse(at, "A \\ must be followed by something; write \\\\ for the character itself.")
	}
	p.cur += 2
	if r != 'v' || !startsRange { // where it is one character, not a class
		if s, ok := p.meaning("\\"+string(r), func() (set, bool) { return p.predefined(r) }); ok {
			return char{s}, 0
		}
	}
	if lit, ok := p.literalEscape(r); ok {
		return nil, lit
	}
	if !inClass {
		if n := p.zeroWidth(r, at); n != nil {
			return n, 0
		}
	}
	switch {
	case r == 'N':
		p.refuse(at, "Characters by their name, \\N{…}, are not possible here; write the character itself or \\x{…}.")
	case inClass:
		p.refuse(at, "\\%c means nothing inside […]; write the character without \\.", r)
	case isASCIILetter(r):
		p.refuse(at, "\\%c means nothing to Java; write the letter without \\.", r)
	}
	return nil, r
}

// literalEscape parses the escapes that stand for one character. Every
// character that is no letter or digit stands for itself.
func (p *javaParser) literalEscape(r rune) (rune, bool) {
	switch r {
	case '0':
		return p.octal(), true
	case 'a':
		return '\a', true
	case 'e':
		return 0x1b, true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'v': // startsRange
		return '\v', true
	case 'c':
		r := p.read() ^ 64
		if p.cur > p.end {
			p.refuse(p.end, "A character must follow \\c.")
		}
		return r, true
	case 'x':
		return p.hex(), true
	case 'u':
		return p.unicode(), true
	}
	return r, !isASCIILetter(r) && !isASCIIDigit(r)
}

// predefined returns the predefined classes.
func (p *javaParser) predefined(r rune) (set, bool) {
	var s set
	wide := p.has(flagUnicodeClass)
	switch unicode.ToLower(r) {
	case 'd':
		s = asciiDigits
		if wide {
			s = table13(unicode.Nd)
		}
	case 's':
		s = asciiSpace
		if wide {
			s = unicodeSpace()
		}
	case 'w':
		s = asciiWord
		if wide {
			s = unicodeWord()
		}
	case 'h':
		s = horizontal
	case 'v':
		s = vertical
	default:
		return nil, false
	}
	if unicode.IsUpper(r) {
		s = s.complement(unicode.MaxRune)
	}
	return s, true
}

// zeroWidth returns what an escape outside of classes means that is neither a
// character nor a set of them, or nil.
func (p *javaParser) zeroWidth(r rune, at int) node {
	wide := p.has(flagUnicodeClass)
	switch r {
	case 'A', 'G': // the last match of a fresh Matcher ends at the start
		return anchor(atStart)
	case 'Z':
		return p.dollar(false)
	case 'z':
		return anchor(atEnd)
	case 'b':
		if p.peek() == '{' && p.at(p.cur+1) == 'g' {
			p.refuse(at, "Grapheme boundaries \\b{g} cannot be decided here; leave {g} out.")
		}
		if wide {
			return anchor(atUnicodeWordEdge)
		}
		return anchor(atWordEdge)
	case 'B':
		if wide {
			return anchor(atNoUnicodeWordEdge)
		}
		return anchor(atNoWordEdge)
	case 'R':
		return lineBreak{}
	case 'X':
		p.refuse(at, "Grapheme clusters \\X cannot be decided here; write . or a class of characters.")
	case 'k':
		return p.namedReference()
	}
	if r >= '1' && r <= '9' {
		return p.reference(int(r - '0'))
	}
	return nil
}

// octal parses what follows \0: up to three digits, the value up to 0377.
func (p *javaParser) octal() rune {
	isOctal := func(r rune) bool { return r >= '0' && r <= '7' }
	first := p.peek()
	if !isOctal(first) {
		p.refuse(p.cur, "An octal digit must follow \\0.")
	}
	value, limit := rune(0), 3
	if first > '3' {
		limit = 2
	}
	for range limit {
		r := p.peek()
		if !isOctal(r) {
			break
		}
		value = value*8 + r - '0'
		p.cur++
	}
	return value
}

// hex parses what follows \x.
func (p *javaParser) hex() rune {
	at := p.cur
	if p.peek() == '{' {
		p.cur++
		if hexDigit(p.peek()) < 0 {
			p.refuse(at, "Hexadecimal digits must follow \\x{.")
		}
		value := rune(0)
		for hexDigit(p.peek()) >= 0 {
			value = value<<4 | hexDigit(p.read())
			if value > unicode.MaxRune {
				p.refuse(at, "There is no character beyond \\x{10FFFF}.")
			}
		}
		p.accept('}', "A } must close \\x{.")
		return value
	}
	return p.hexDigits(2, "Two hexadecimal digits must follow \\x.")
}

// unicode parses what follows \u; two of them may be a surrogate pair.
func (p *javaParser) unicode() rune {
	const reason = "Four hexadecimal digits must follow \\u."
	first := p.hexDigits(4, reason)
	if first < 0xd800 || first > 0xdbff {
		return first
	}
	back := p.cur
	if p.read() == '\\' && p.read() == 'u' {
		if r := utf16.DecodeRune(first, p.hexDigits(4, reason)); r != unicode.ReplacementChar {
			return r
		}
	}
	p.cur = back
	return first
}

func (p *javaParser) hexDigits(n int, reason string) rune {
	value := rune(0)
	for range n {
		at := p.cur
		d := hexDigit(p.read())
		if d < 0 {
			p.refuse(at, "%s", reason)
		}
		value = value<<4 | d
	}
	return value
}
