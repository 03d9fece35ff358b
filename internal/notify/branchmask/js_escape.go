package branchmask

import "unicode"

// escape parses from \ on, outside of classes.
func (p *jsParser) escape() (node, bool) {
	at := p.cur
	switch r := p.at(1); {
	case r < 0:
		p.refuse(at, "A \\ must be followed by something; write \\\\ for the character itself.")
	case r == 'b':
		p.cur += 2
		return anchor(atWordEdge), false
	case r == 'B':
		p.cur += 2
		return anchor(atNoWordEdge), false
	case r == 'k' && len(p.names) > 0:
		p.cur += 2
		if !p.eat("<") {
			p.refuse(at, "A group's name must follow \\k, as in \\k<name>.")
		}
		name := p.groupName()
		index, ok := p.names[name]
		if !ok {
			p.refuse(at, "There is no group named %s; name one with (?<%[1]s>…).", name)
		}
		return backref{index: index}, true
	case r >= '1' && r <= '9':
		p.cur++
		if index := p.number(); index <= p.total {
			return backref{index: index}, true
		}
		p.cur = at
	}
	if s, ok := p.predefined(); ok {
		return char{s}, true
	}
	return literal(p.character(false)), true
}

// predefined parses \d, \s, \w and their opposites.
func (p *jsParser) predefined() (set, bool) {
	var s set
	r := p.at(1)
	switch unicode.ToLower(r) {
	case 'd':
		s = asciiDigits
	case 'w':
		s = asciiWord
	case 's':
		s = setOfTables(unicode.Zs).union(setOf(span{'\t', '\r'}, span{0x2028, 0x2029}, span{0xfeff, 0xfeff}))
	default:
		return nil, false
	}
	p.cur += 2
	if unicode.IsUpper(r) {
		s = s.complement(lastUnit)
	}
	return s, true
}

// character parses an escape that stands for one unit.
func (p *jsParser) character(inClass bool) rune {
	at := p.cur
	r := p.at(1)
	switch r {
	case 'f':
		r = '\f'
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 't':
		r = '\t'
	case 'v':
		r = '\v'
	case 'c':
		return p.control(inClass)
	case 'x':
		if u, ok := p.hexEscape("\\x", 2); ok {
			return u
		}
	case 'u':
		if u, ok := p.hexEscape("\\u", 4); ok {
			return u
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return p.octal()
	case 'k':
		if len(p.names) > 0 {
			p.refuse(at, "Where groups have names, \\k must be followed by one; write k without \\.")
		}
	}
	p.cur += 2
	return r
}

// control parses \cX. Where no letter follows, the \ stands for itself; in a
// class, digits and _ do as letters.
func (p *jsParser) control(inClass bool) rune {
	if r := p.at(2); isASCIILetter(r) || inClass && (isASCIIDigit(r) || r == '_') {
		p.cur += 3
		return r & 31
	}
	p.cur++
	return '\\'
}

// octal parses up to three digits, the value up to 0377.
func (p *jsParser) octal() rune {
	p.cur++
	value := rune(0)
	for range 3 {
		r := p.at(0)
		if r < '0' || r > '7' || value*8+r-'0' > 0377 {
			break
		}
		value = value*8 + r - '0'
		p.cur++
	}
	return value
}

// hexEscape parses an introducer and n hexadecimal digits, or nothing.
func (p *jsParser) hexEscape(introducer string, n int) (rune, bool) {
	at := p.cur
	if !p.eat(introducer) {
		return 0, false
	}
	value := rune(0)
	for range n {
		d := hexDigit(p.at(0))
		if d < 0 {
			p.cur = at
			return 0, false
		}
		value = value<<4 | d
		p.cur++
	}
	return value, true
}

// class parses from [ to ].
func (p *jsParser) class() set {
	at := p.cur
	p.cur++
	negate := p.eat("^")
	var spans []span
	for !p.eat("]") {
		if p.atEnd() {
			p.refuse(at, "This [ is never closed; add ] or write \\[.")
		}
		spans = append(spans, p.classItem()...)
	}
	if s := setOf(spans...); negate {
		return s.complement(lastUnit)
	}
	return setOf(spans...)
}

// classItem parses a character, a range or a predefined class. A - next to a
// predefined class stands for itself.
func (p *jsParser) classItem() set {
	at := p.cur
	lo, single := p.classAtom()
	if p.at(0) != '-' || p.at(1) == ']' {
		return lo
	}
	p.cur++
	if p.atEnd() {
		return nil // class refuses
	}
	hi, bothSingle := p.classAtom()
	if !single || !bothSingle {
		return lo.union(hi).union(setOfRunes("-"))
	}
	if hi[0].lo < lo[0].lo {
		p.refuse(at, "The range's first character must not come after its last.")
	}
	return setOf(span{lo[0].lo, hi[0].lo})
}

// classAtom parses a character or a predefined class and says which.
func (p *jsParser) classAtom() (s set, single bool) {
	r := p.at(0)
	switch {
	case r == '\\' && p.at(1) < 0:
		p.refuse(p.cur, "A \\ must be followed by something; write \\\\ for the character itself.")
	case p.eat("\\b"):
		r = '\b'
	case r == '\\':
		if s, ok := p.predefined(); ok {
			return s, false
		}
		r = p.character(true)
	default:
		p.cur++
	}
	return setOf(span{r, r}), true
}
