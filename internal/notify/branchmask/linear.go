package branchmask

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
)

const (
	// maxLinear is how many characters, anchors, choices and repetitions a
	// pattern may have, repeated parts written out, to run on Go's regexp.
	// That takes time in proportion to this times the length of the branch
	// name.
	maxLinear = 1000

	// maxLinearText is how long a pattern may be in Go's syntax, in bytes, which
	// keeps it and its program: there a \p{L} alone takes 12 KB, each time.
	maxLinearText = 256 << 10

	// goMaxRepeat is the highest count that Go's regexp takes.
	goMaxRepeat = 1000
)

// linearWriter writes a tree in Go's syntax as far as Go decides the same. A
// full or found match says nothing about which way it went, so that greedy
// and lazy are one; captures matter to references only, which Go has not.
type linearWriter struct {
	strings.Builder
	java bool
	size int
	long bool // it was given up for its size
}

// linearJava returns the pattern in Go's regexp, with its size, or nil and whether
// that is for its size alone.
func linearJava(n node) (*regexp.Regexp, int, bool) {
	w := linearWriter{java: true}
	w.WriteString(`\A(?:`)
	ok := w.write(n, 1, true)
	w.WriteString(`)\z`)
	return w.compile(ok)
}

// linearJS is linearJava for JavaScript.
func linearJS(n node) (*regexp.Regexp, int, bool) {
	var w linearWriter
	return w.compile(w.write(n, 1, false))
}

func (w *linearWriter) compile(ok bool) (*regexp.Regexp, int, bool) {
	if !ok {
		return nil, 0, w.long
	}
	re, err := regexp.Compile(w.String())
	if err != nil { // beyond one of Go's own limits
		return nil, 0, true
	}
	return re, max(w.size, 1), false
}

// write reports whether Go decides n as its dialect does. It is to match
// times as often as written, and last says that the name must end behind it.
func (w *linearWriter) write(n node, times int, last bool) bool {
	switch n.(type) {
	case char, anchor, choice, repeat:
		if w.size += times; w.size > maxLinear || w.Len() > maxLinearText {
			w.long = true
			return false
		}
	}
	switch n := n.(type) {
	case char:
		w.writeSet(n.set)
		return true
	case sequence:
		return w.writeSequence(n, times, last)
	case choice:
		w.WriteString("(?:")
		for i, m := range n {
			if i > 0 {
				w.WriteByte('|')
			}
			if !w.write(m, times, last) {
				return false
			}
		}
		w.WriteByte(')')
		return true
	case group:
		return w.write(n.body, times, last)
	case repeat:
		return w.writeRepeat(n, times, last)
	case anchor:
		return w.writeAnchor(anchorKind(n), last)
	}
	return false
}

func (w *linearWriter) writeSequence(seq sequence, times int, last bool) bool {
	w.WriteString("(?:")
	for i, n := range seq {
		if !w.write(n, times, last && onlyEnds(seq[i+1:])) {
			return false
		}
	}
	w.WriteByte(')')
	return true
}

// onlyEnds reports whether nothing is left but anchors at the end.
func onlyEnds(seq sequence) bool {
	for _, n := range seq {
		if a, ok := n.(anchor); !ok || a != anchor(atEnd) && a != anchor(atLastLine) && a != anchor(atLastUnixLine) {
			return false
		}
	}
	return true
}

// writeRepeat leaves alone what Java does differently from the textbook: a
// possessive part, and an iteration below the minimum that took no character,
// after which Java's loop is over although a later one might not match.
func (w *linearWriter) writeRepeat(r repeat, times int, last bool) bool {
	if r.mode == possessive || w.java && r.min >= 2 && nullable(r.body) && anchored(r.body) {
		return false
	}
	if r.min > goMaxRepeat || r.max > goMaxRepeat && r.max != unlimited {
		return false
	}
	count := r.max
	if r.max == unlimited {
		count = r.min + 1
	}
	w.WriteString("(?:")
	times = min(times*max(count, 1), maxLinear+1)
	if !w.write(r.body, times, last && r.max == 1) {
		return false
	}
	w.WriteByte(')')
	switch {
	case r.max == unlimited:
		fmt.Fprintf(w, "{%d,}", r.min)
	default:
		fmt.Fprintf(w, "{%d,%d}", r.min, r.max)
	}
	return true
}

func (w *linearWriter) writeAnchor(kind anchorKind, last bool) bool {
	switch {
	case kind == atStart:
		w.WriteString(`\A`)
	case kind == atEnd, last && (kind == atLastLine || kind == atLastUnixLine):
		w.WriteString(`\z`)
	case kind == atWordEdge && !w.java:
		w.WriteString(`\b`)
	case kind == atNoWordEdge && !w.java:
		w.WriteString(`\B`)
	default:
		return false
	}
	return true
}

func (w *linearWriter) writeSet(s set) {
	if !w.java {
		s = mapSurrogates(s)
	}
	if len(s) == 0 {
		w.WriteString(`[^\x{0}-\x{10FFFF}]`)
		return
	}
	w.WriteByte('[')
	for _, p := range s {
		fmt.Fprintf(w, `\x{%X}-\x{%X}`, p.lo, p.hi)
	}
	w.WriteByte(']')
}

// surrogateBase is where the UTF-16 units of surrogate pairs are put for Go, which
// knows no half characters: U+D800 becomes U+10D800. JavaScript's sets and
// subjects consist of units, so that nothing else is there.
const surrogateBase = 0x100000

// mapSurrogates moves the surrogates of a set.
func mapSurrogates(s set) set {
	surrogates := setOf(span{0xd800, 0xdfff})
	spans := []span(s.minus(surrogates))
	for _, p := range s.intersect(surrogates) {
		spans = append(spans, span{p.lo + surrogateBase, p.hi + surrogateBase})
	}
	return setOf(spans...)
}

// plantUnits returns a subject whose surrogate pairs are two characters.
func plantUnits(branch string) string {
	if !strings.ContainsFunc(branch, func(r rune) bool { return r > lastUnit }) {
		return branch
	}
	var units []rune
	for _, r := range branch {
		if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
			units = append(units, hi+surrogateBase, lo+surrogateBase)
		} else {
			units = append(units, r)
		}
	}
	return string(units)
}
