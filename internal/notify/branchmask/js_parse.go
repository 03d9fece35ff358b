package branchmask

import (
	"fmt"
	"unicode/utf16"
)

// lastUnit is the last of the characters that JavaScript's sets consist of.
const lastUnit = 0xffff

// jsParser parses the dialect of a JavaScript RegExp without flags: the
// grammar of ECMAScript with what its Annex B adds. A pattern is a sequence
// of UTF-16 units.
type jsParser struct {
	text  []uint16
	from  []int // the character that each unit came from
	cur   int
	total int            // groups that the whole pattern captures
	names map[string]int // and the named ones
	open  int            // those opened so far
}

// parseJS returns the tree of a pattern and how many groups it captures.
func parseJS(pattern string) (tree node, groups int, err error) {
	defer refused(&err)
	p := &jsParser{names: map[string]int{}}
	for i, r := range []rune(pattern) {
		for _, u := range utf16.Encode([]rune{r}) {
			p.text = append(p.text, u)
			p.from = append(p.from, i)
		}
	}
	p.from = append(p.from, len([]rune(pattern)))
	p.countGroups()
	tree = p.alternatives()
	if !p.atEnd() {
		p.refuse(p.cur, "This ) closes nothing; remove it or write \\).")
	}
	return tree, p.total, nil
}

func (p *jsParser) atEnd() bool { return p.cur >= len(p.text) }

// at returns the unit n ahead, or -1.
func (p *jsParser) at(n int) rune {
	if p.cur+n < len(p.text) {
		return rune(p.text[p.cur+n])
	}
	return -1
}

// eat steps over s if it is next.
func (p *jsParser) eat(s string) bool {
	for i, r := range s {
		if p.at(i) != r {
			return false
		}
	}
	p.cur += len(s)
	return true
}

func (p *jsParser) refuse(at int, format string, args ...any) {
	panic(&SyntaxError{p.from[min(at, len(p.text))], fmt.Sprintf(format, args...)})
}

// countGroups goes through the whole pattern, because what \2 and \k mean
// depends on groups that may come later.
func (p *jsParser) countGroups() {
	for inClass := false; !p.atEnd(); p.cur++ {
		switch p.at(0) {
		case '\\':
			p.cur++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '(':
			if inClass || p.at(1) == '?' && (p.at(2) != '<' || p.at(3) == '=' || p.at(3) == '!') {
				continue
			}
			p.total++
			if p.at(1) == '?' {
				p.cur += 3
				at := p.cur
				name := p.groupName()
				if _, ok := p.names[name]; ok {
					p.refuse(at, "There is already a group named %s; give this one another name.", name)
				}
				p.names[name] = p.total
				p.cur--
			}
		}
	}
	p.cur = 0
}

// alternatives parses what | separates.
func (p *jsParser) alternatives() node {
	first := p.sequence()
	if p.at(0) != '|' {
		return first
	}
	all := choice{first}
	for p.eat("|") {
		all = append(all, p.sequence())
	}
	return all
}

// sequence parses up to | or ) or the end.
func (p *jsParser) sequence() node {
	var seq sequence
	for !p.atEnd() && p.at(0) != '|' && p.at(0) != ')' {
		n, quantifiable := p.term()
		if at := p.cur; quantifiable {
			n = p.quantified(n)
		} else if _, ok := p.quantifier(); ok {
			p.refuse(at, "There is nothing here to repeat; remove the quantifier.")
		}
		seq = append(seq, n)
	}
	return seq
}

// term parses one assertion or atom and says whether it may be repeated.
func (p *jsParser) term() (node, bool) {
	at := p.cur
	switch r := p.at(0); r {
	case '^':
		p.cur++
		return anchor(atStart), false
	case '$':
		p.cur++
		return anchor(atEnd), false
	case '(':
		return p.group()
	case '[':
		return char{p.class()}, true
	case '.':
		p.cur++
		return char{setOfRunes("\n\r\u2028\u2029").complement(lastUnit)}, true
	case '\\':
		return p.escape()
	case '*', '+', '?':
		p.refuse(at, "There is nothing here for %c to repeat; write \\%[1]c for the character itself.", r)
	case '{':
		if _, ok := p.quantifier(); ok {
			p.refuse(at, "There is nothing here to repeat; write \\{ for the character itself.")
		}
	}
	p.cur++
	return literal(rune(p.text[at])), true
}

func literal(r rune) node { return char{setOf(span{r, r})} }

// group parses from ( to ). Look-ahead may be repeated, look-behind may not.
func (p *jsParser) group() (node, bool) {
	at := p.cur
	body := func() node {
		n := p.alternatives()
		if !p.eat(")") {
			p.refuse(at, "This ( is never closed; add ) or write \\(.")
		}
		return n
	}
	switch {
	case p.eat("(?:"):
		return group{body: body()}, true
	case p.eat("(?="):
		return look{body: body()}, true
	case p.eat("(?!"):
		return look{negate: true, body: body()}, true
	case p.eat("(?<="):
		return look{behind: true, body: body()}, false
	case p.eat("(?<!"):
		return look{behind: true, negate: true, body: body()}, false
	case p.eat("(?<"):
		p.groupName()
	case p.at(1) == '?':
		p.refuse(at+1, "This is no kind of group that JavaScript knows; after (? comes one of : = ! <= <! <name>.")
	default:
		p.cur++
	}
	p.open++
	index := p.open
	return group{index: index, body: body()}, true
}

// quantified parses the quantifier that may follow n.
func (p *jsParser) quantified(n node) node {
	q, ok := p.quantifier()
	if !ok {
		return n
	}
	q.body = n
	return q
}

// quantifier parses a quantifier. A { that begins none is a character.
func (p *jsParser) quantifier() (repeat, bool) {
	at := p.cur
	var q repeat
	switch {
	case p.eat("*"):
		q.max = unlimited
	case p.eat("+"):
		q.min, q.max = 1, unlimited
	case p.eat("?"):
		q.max = 1
	case p.at(0) == '{' && isASCIIDigit(p.at(1)):
		p.cur++
		q.min = p.number()
		if q.max = q.min; p.eat(",") {
			if q.max = unlimited; isASCIIDigit(p.at(0)) {
				q.max = p.number()
			}
		}
		if !p.eat("}") {
			p.cur = at
			return q, false
		}
		p.checkCounts(at, q)
	default:
		return q, false
	}
	if p.eat("?") {
		q.mode = lazy
	}
	return q, true
}

func (p *jsParser) checkCounts(at int, q repeat) {
	if q.min > q.max {
		p.refuse(at, "The second number in {n,m} must not be less than the first.")
	}
	if q.min > maxRepeat || q.max > maxRepeat && q.max != unlimited {
		p.refuse(at, "More than %d repetitions are not possible; no branch name is that long.", maxRepeat)
	}
}

// number parses digits; what is too large stays just below unlimited.
func (p *jsParser) number() int {
	n := 0
	for ; isASCIIDigit(p.at(0)); p.cur++ {
		n = min(n*10+int(p.at(0)-'0'), unlimited-1)
	}
	return n
}
