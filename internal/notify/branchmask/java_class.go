package branchmask

import (
	"sync"
	"unicode"
)

// javaClass is a class being parsed. Java keeps the single characters of a
// class (up to U+00FF) in a bit set that it goes on filling after the set has
// taken part in intersections, so that sets are computed last of all.
type javaClass struct {
	p       *javaParser
	singles set        // the bit set
	pending bool       // singles has not been united with all yet
	all     func() set // what the class has become so far
	latest  func() set // the operand that came last; nil after a single
}

// class parses from [ to ].
func (p *javaParser) class() set { return p.classBody(true)() }

// classBody parses a class whose [ (or the && in front of it) is the current
// character. The right side of && ends in front of the ] and has none of its
// own.
func (p *javaParser) classBody(bracketed bool) func() set {
	open := p.cur
	c := &javaClass{p: p}
	r := p.next()
	negate := r == '^' && p.at(p.cur-1) == '['
	if negate {
		r = p.next()
	}
	for ; ; r = p.peek() {
		switch {
		case r == '[':
			c.unite(p.classBody(true))
		case r == '&' && p.ampersandFollows():
			c.intersect()
		case r == ']' && (c.all != nil || c.pending):
			if bracketed {
				p.next()
			}
			return c.finish(negate)
		case r == 0 && p.atEnd():
			p.refuse(open, "This [ is never closed; add ] or write \\[.")
		default:
			c.item()
		}
	}
}

// ampersandFollows steps over & if another follows. If none does, it goes one
// back as Java does: under (?x), white space behind a lone & makes it vanish.
func (p *javaParser) ampersandFollows() bool {
	if p.next() == '&' {
		return true
	}
	p.cur--
	return false
}

func (c *javaClass) unite(s func() set) {
	c.latest = s
	if all := c.all; all != nil {
		c.all = func() set { return all().union(s()) }
		return
	}
	c.all = s
}

func (c *javaClass) bits() set { return c.singles }

// settle unites the singles with the rest.
func (c *javaClass) settle() {
	if !c.pending {
		return
	}
	c.pending = false
	if all := c.all; all != nil {
		c.all = func() set { return all().union(c.singles) }
		return
	}
	c.all, c.latest = c.bits, c.bits
}

// intersect parses the right side of &&, from its second & on.
func (c *javaClass) intersect() {
	p, at := c.p, c.p.cur-1
	var right func() set
	for r := p.next(); r != ']' && r != '&'; r = p.peek() {
		if p.atEnd() {
			p.refuse(at, "A class or characters must follow &&.")
		}
		if r != '[' {
			p.cur--
		}
		s := p.classBody(r == '[')
		if left := right; left != nil {
			right = func() set { return left().union(s()) }
		} else {
			right = s
		}
	}
	c.settle()
	if right != nil {
		c.latest = right
	}
	switch {
	case c.latest == nil:
		p.refuse(at, "Nothing follows &&; add a class or write \\&.")
	case c.all == nil:
		c.all = right
	default:
		all, with := c.all, c.latest
		c.all = func() set { return all().intersect(with()) }
	}
}

func (c *javaClass) finish(negate bool) func() set {
	c.settle()
	all := c.all
	return sync.OnceValue(func() set {
		if negate {
			return all().complement(unicode.MaxRune)
		}
		return all()
	})
}

// item parses a character, a range or a predefined class.
func (c *javaClass) item() {
	p, at := c.p, c.p.cur
	lo := p.peek()
	if lo == '\\' {
		// At the letter of the escape; whether - follows decides on \v.
		n, r := p.escape(true, p.at(p.cur+2) == '-')
		if n != nil {
			s := n.(char).set
			c.unite(func() set { return s })
			return
		}
		lo = r
	} else {
		p.next()
	}
	if p.peek() != '-' {
		c.single(lo)
		return
	}
	switch p.at(p.cur + 1) {
	case '[', ']':
		c.single(lo)
		return
	}
	hi := p.next()
	if p.atEnd() {
		return // classBody refuses
	}
	if hi == '\\' {
		n, r := p.escape(true, true)
		if n != nil {
			p.refuse(at, "A range must end with a character; write the - last, as in [a-z\\d-].")
		}
		hi = r
	} else {
		p.next()
	}
	if hi < lo {
		p.refuse(at, "The range's first character must not come after its last.")
	}
	s := p.foldRange(lo, hi)
	c.unite(func() set { return s })
}

// single adds one character. Under (?iu), those whose other cases lie beyond
// U+00FF are not in the bit set.
func (c *javaClass) single(r rune) {
	p := c.p
	s := p.single(r)
	outside := r > 0xff
	if p.has(flagFold) && p.has(flagUnicodeCase) {
		switch r {
		case 0xff, 0xb5, 'I', 'i', 'S', 's', 'K', 'k', 0xc5, 0xe5:
			outside = true
		}
	}
	if outside {
		c.unite(func() set { return s })
		return
	}
	c.singles = c.singles.union(s)
	c.pending = true
	c.latest = nil
}

// foldRange returns what a range in a class matches.
func (p *javaParser) foldRange(lo, hi rune) set {
	s := setOf(span{lo, hi})
	if !p.has(flagFold) {
		return s
	}
	spans := []span(s)
	if !p.has(flagUnicodeCase) {
		for r := rune(0); r <= unicode.MaxASCII; r++ {
			if s.contains(asciiUpper(r)) || s.contains(asciiLower(r)) {
				spans = append(spans, span{r, r})
			}
		}
		return setOf(spans...)
	}
	within := func(r rune) bool { return lo <= r && r <= hi }
	for _, c := range casings() {
		if !within(c.r) && (within(c.upper) || within(c.folded)) {
			spans = append(spans, span{c.r, c.r})
		}
	}
	return setOf(spans...)
}
