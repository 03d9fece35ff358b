package branchmask

// group parses from ( to ) and the quantifier behind it. It gives nil for
// flags that stand alone, which hold to the end of the group around them.
func (p *javaParser) group() node {
	open, outer := p.cur, p.flags
	var n node
	if p.next() != '?' {
		n = p.capture()
	} else {
		at := p.cur
		switch p.skip() {
		case ':':
			n = group{body: p.alternatives()}
		case '=':
			n = look{body: p.alternatives()}
		case '!':
			n = look{negate: true, body: p.alternatives()}
		case '>':
			n = atomic{p.alternatives()}
		case '<':
			n = p.behindOrNamed(open)
		default:
			p.cur = at + 1
			p.setFlags()
			switch p.read() {
			case ')':
				return nil
			case ':':
				n = group{body: p.alternatives()}
			default:
				p.refuse(at, "This is no kind of group that Java knows; after (? comes one of : = ! > <= <! <name> or flags such as i.")
			}
		}
	}
	if p.atEnd() {
		p.refuse(open, "This ( is never closed; add ) or write \\(.")
	}
	p.accept(')', "A ) must close the group.")
	p.flags = outer
	return p.quantified(n)
}

func (p *javaParser) capture() node {
	p.groups++
	index := p.groups
	return group{index: index, body: p.alternatives()}
}

// behindOrNamed parses what follows (?<.
func (p *javaParser) behindOrNamed(open int) node {
	at := p.cur
	switch r := p.read(); r {
	case '=', '!':
		start := p.cur
		body := p.alternatives()
		within, ok := measure(group{body: body})
		if !ok {
			p.refuse(open, "Java must see how long a look-behind can be; use {n,m} instead of * or + in it, and no back-reference.")
		}
		return look{behind: true, negate: r == '!', body: body, within: within, pairs: p.pairsFrom(start)}
	}
	p.cur = at
	name := p.groupName()
	if _, ok := p.names[name]; ok {
		p.refuse(at, "There is already a group named %s; give this one another name.", name)
	}
	p.names[name] = p.groups + 1
	return p.capture()
}

// pairsFrom reports whether the pattern, from here to its very end, holds a
// character beyond U+FFFF as itself: only then does Java count
// such characters as one in look-behind.
func (p *javaParser) pairsFrom(start int) bool {
	for _, r := range p.text[min(start, p.end):p.end] {
		if r > 0xffff {
			return true
		}
	}
	return false
}

// groupName parses a name and its >.
func (p *javaParser) groupName() string {
	at := p.cur
	var name []rune
	r := p.read()
	if !isASCIILetter(r) {
		p.refuse(at, "A group's name must begin with a letter from a to z or A to Z.")
	}
	for isASCIILetter(r) || isASCIIDigit(r) {
		name = append(name, r)
		r = p.read()
	}
	if r != '>' {
		p.refuse(p.cur-1, "A > must follow the group's name, which consists of letters and digits.")
	}
	return string(name)
}

// setFlags parses flags to be turned on and, after -, off.
func (p *javaParser) setFlags() {
	for on := true; ; p.next() {
		var f javaFlags
		switch p.peek() {
		case 'i':
			f = flagFold
		case 'd':
			f = flagUnixLines
		case 'm':
			f = flagMultiline
		case 's':
			f = flagDotAll
		case 'u':
			f = flagUnicodeCase
		case 'x':
			f = flagComments
		case 'U':
			f = flagUnicodeClass | flagUnicodeCase
		case 'c':
			p.refuse(p.cur, "Canonical equivalence (?c) cannot be decided here; leave it out.")
		case '-':
			if !on {
				return
			}
			on = false
			continue
		default:
			return
		}
		if on {
			p.flags |= f
		} else {
			p.flags &^= f
		}
	}
}

// reference parses the further digits of a back-reference, as long as there
// is such a group.
func (p *javaParser) reference(n int) node {
	for {
		r := p.peek()
		if !isASCIIDigit(r) || n*10+int(r-'0') > p.groups {
			return p.backref(n)
		}
		n = n*10 + int(r-'0')
		p.cur++
	}
}

func (p *javaParser) namedReference() node {
	if at := p.cur; p.read() != '<' {
		p.refuse(at, "A group's name must follow \\k, as in \\k<name>.")
	}
	at := p.cur
	name := p.groupName()
	n, ok := p.names[name]
	if !ok {
		p.refuse(at, "There is no group named %s in front of this; name one with (?<%[1]s>…).", name)
	}
	return p.backref(n)
}

func (p *javaParser) backref(n int) node {
	b := backref{index: n}
	switch {
	case p.has(flagFold) && p.has(flagUnicodeCase):
		b.fold = foldUnicode
	case p.has(flagFold):
		b.fold = foldASCII
	}
	return b
}
