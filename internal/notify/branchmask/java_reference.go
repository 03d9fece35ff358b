package branchmask

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
