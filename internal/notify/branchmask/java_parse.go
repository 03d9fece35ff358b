package branchmask

import "math"

// javaParser parses the dialect of java.util.regex.
type javaParser struct {
	*javaScanner
	groups int            // capturing groups opened so far
	names  map[string]int // the named ones
	known  map[named]set  // what classes with a name mean: a pattern may repeat one thousands of times
}

// named is the name of a predefined class or property under flags, as in the
// pattern: with its \, or \p.
type named struct {
	name  string
	flags javaFlags
}

// meaning returns the set of a named class, which find computes the first time.
func (p *javaParser) meaning(name string, find func() (set, bool)) (set, bool) {
	key := named{name, p.flags}
	if s, known := p.known[key]; known {
		return s, true
	}
	s, ok := find()
	if ok {
		if p.known == nil {
			p.known = make(map[named]set)
		}
		p.known[key] = s
	}
	return s, ok
}

// parseJava returns the tree of a pattern and how many groups it captures.
func parseJava(pattern string) (tree node, groups int, err error) {
	defer refused(&err)
	p := &javaParser{javaScanner: newJavaScanner(pattern), names: map[string]int{}}
	tree = p.alternatives()
	if !p.atEnd() {
		p.refuse(p.cur, "This ) closes nothing; remove it or write \\).")
	}
	return tree, p.groups, nil
}

// alternatives parses what | separates.
func (p *javaParser) alternatives() node {
	first := p.sequence()
	if p.peek() != '|' {
		return first
	}
	all := choice{first}
	for p.peek() == '|' {
		p.next()
		all = append(all, p.sequence())
	}
	return all
}

// sequence parses up to | or ) or the end.
func (p *javaParser) sequence() node {
	var seq sequence
	for {
		switch p.peek() {
		case '(':
			if n := p.group(); n != nil {
				seq = append(seq, n)
			}
			continue
		case '[':
			seq = append(seq, p.quantified(char{p.class()}))
			continue
		case '^':
			p.next()
			seq = append(seq, p.quantified(p.caret()))
			continue
		case '$':
			p.next()
			seq = append(seq, p.quantified(p.dollar(p.has(flagMultiline))))
			continue
		case '.':
			p.next()
			seq = append(seq, p.quantified(char{p.dot()}))
			continue
		case '|', ')':
			return seq
		case '?', '*', '+':
			p.refuse(p.cur, "There is nothing here for %c to repeat; write \\%[1]c for the character itself.", p.at(p.cur))
		case 0:
			if p.atEnd() {
				return seq
			}
		}
		seq = append(seq, p.literals()...)
	}
}

// literals parses a run of plain characters, of which a quantifier takes the
// last, or one escape that is not a plain character. Java compares a run of
// several characters slightly differently from a single one under (?iu).
func (p *javaParser) literals() []node {
	var run []rune
	start := p.cur // of the last of run
scan:
	for {
		r := p.peek()
		switch r {
		case '*', '+', '?', '{':
			if len(run) > 1 {
				p.cur = start
				run = run[:len(run)-1]
			}
			break scan
		case '$', '.', '^', '(', '[', '|', ')':
			break scan
		case '\\':
			at := p.cur
			n, r := p.escape(false, false)
			if n != nil {
				if len(run) > 0 {
					p.cur = at
					break scan
				}
				return []node{p.quantified(n)}
			}
			start = at
			run = append(run, r)
		case 0:
			if p.atEnd() {
				break scan
			}
			fallthrough
		default:
			start = p.cur
			run = append(run, r)
			p.cur++
		}
	}
	switch len(run) {
	case 0: // a { with nothing in front of it repeats nothing
		return []node{p.quantified(sequence{})}
	case 1:
		return []node{p.quantified(char{p.single(run[0])})}
	}
	var out []node
	for _, r := range run {
		out = append(out, char{p.inRun(r)})
	}
	out[len(out)-1] = p.quantified(out[len(out)-1])
	return out
}

// quantified parses the quantifier that may follow n.
func (p *javaParser) quantified(n node) node {
	var q repeat
	switch p.peek() {
	case '?':
		q = repeat{max: 1, form: optional}
	case '*':
		q = repeat{max: unlimited, form: open}
	case '+':
		q = repeat{min: 1, max: unlimited, form: open}
	case '{':
		q = p.counts()
	default:
		return n
	}
	q.body = n
	switch p.next() {
	case '?':
		q.mode = lazy
		p.next()
	case '+':
		q.mode = possessive
		p.next()
	}
	if g, ok := n.(group); ok && q.mode != possessive && q.form != optional {
		q.loops = !deterministic(g)
	}
	return q
}

// counts parses {n}, {n,} and {n,m} up to the }.
func (p *javaParser) counts() repeat {
	at := p.cur
	if !isASCIIDigit(p.at(p.cur + 1)) {
		p.refuse(p.cur, "A number must follow {, as in {2} or {2,5}; write \\{ for the character itself.")
	}
	p.cur++
	q := repeat{min: p.count()}
	q.max = q.min
	if p.peek() == ',' {
		p.cur++
		switch r := p.peek(); {
		case r == '}':
			q.max, q.form = unlimited, open
		case isASCIIDigit(r):
			q.max = p.count()
		default:
			p.refuse(p.cur, "A number or } must follow the comma in {n,m}.")
		}
	}
	if p.peek() != '}' {
		p.refuse(p.cur, "A } must close this {n,m}.")
	}
	if q.max < q.min {
		p.refuse(at, "The second number in {n,m} must not be less than the first.")
	}
	if q.min == 0 && q.max == 1 {
		q.form = optional
	}
	return q
}

// count parses a number and keeps to maxRepeat.
func (p *javaParser) count() int {
	at, n := p.cur, 0
	for isASCIIDigit(p.peek()) {
		n = min(n*10+int(p.read()-'0'), math.MaxInt32)
	}
	if n > maxRepeat {
		p.refuse(at, "More than %d repetitions are not possible; no branch name is that long.", maxRepeat)
	}
	return n
}

func (p *javaParser) caret() node {
	switch {
	case !p.has(flagMultiline):
		return anchor(atStart)
	case p.has(flagUnixLines):
		return anchor(atUnixLineStart)
	}
	return anchor(atLineStart)
}

func (p *javaParser) dollar(multiline bool) node {
	unix := p.has(flagUnixLines)
	switch {
	case multiline && unix:
		return anchor(atUnixLineEnd)
	case multiline:
		return anchor(atLineEnd)
	case unix:
		return anchor(atLastUnixLine)
	}
	return anchor(atLastLine)
}

func (p *javaParser) dot() set {
	switch {
	case p.has(flagDotAll):
		return everything
	case p.has(flagUnixLines):
		return everything.minus(setOfRunes("\n"))
	}
	return everything.minus(setOfRunes("\n\r\u0085\u2028\u2029"))
}

// single returns what a lone literal matches.
func (p *javaParser) single(r rune) set {
	if p.has(flagFold) && p.has(flagUnicodeCase) {
		if folded := javaFold(r); folded != javaUpper(r) {
			return foldClass(folded)
		}
		return setOf(span{r, r})
	}
	return p.foldASCII(r)
}

// inRun returns what a literal next to others matches.
func (p *javaParser) inRun(r rune) set {
	if p.has(flagFold) && p.has(flagUnicodeCase) {
		return foldClass(javaFold(r))
	}
	return p.foldASCII(r)
}

func (p *javaParser) foldASCII(r rune) set {
	if p.has(flagFold) {
		u, l := asciiUpper(r), asciiLower(r)
		return setOf(span{u, u}, span{l, l})
	}
	return setOf(span{r, r})
}
