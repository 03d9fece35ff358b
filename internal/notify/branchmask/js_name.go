package branchmask

import (
	"unicode"
	"unicode/utf16"
)

// groupName parses a name and its >. Unlike the rest of a pattern, a name
// consists of code points.
func (p *jsParser) groupName() string {
	at := p.cur
	var name []rune
	for !p.eat(">") {
		r := p.nameRune()
		if !isNameRune(r, len(name) == 0) {
			p.refuse(at, "A group's name must be a JavaScript identifier followed by >.")
		}
		name = append(name, r)
	}
	if len(name) == 0 {
		p.refuse(at, "A group's name must not be empty.")
	}
	return string(name)
}

// nameRune takes a code point, which may be written as \uXXXX or \u{X}.
func (p *jsParser) nameRune() rune {
	if p.atEnd() {
		return -1
	}
	r, size := p.at(0), 1
	if r == '\\' {
		return p.nameEscape()
	}
	if pair := utf16.DecodeRune(r, p.at(1)); pair != unicode.ReplacementChar {
		r, size = pair, 2
	}
	p.cur += size
	return r
}

func (p *jsParser) nameEscape() rune {
	if p.eat("\\u{") {
		r := rune(0)
		for ; hexDigit(p.at(0)) >= 0 && r <= unicode.MaxRune; p.cur++ {
			r = r<<4 | hexDigit(p.at(0))
		}
		if !p.eat("}") {
			return -1
		}
		return r
	}
	r, ok := p.hexEscape("\\u", 4)
	if !ok {
		return -1
	}
	if utf16.IsSurrogate(r) {
		if lo, ok := p.hexEscape("\\u", 4); ok {
			return utf16.DecodeRune(r, lo)
		}
	}
	return r
}

// isNameRune reports whether r may be in an identifier.
func isNameRune(r rune, first bool) bool {
	switch {
	case r < 0 || r > unicode.MaxRune:
		return false
	case r == '$' || r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start):
		return !unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space) || r == '$'
	case first:
		return false
	}
	return r == 0x200c || r == 0x200d || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}
