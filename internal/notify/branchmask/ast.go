package branchmask

import (
	"math"
	"slices"
)

// A node is a piece of a parsed pattern. Both dialects parse to these; what
// they mean to the letter is decided when they are compiled.
type node any

type (
	// char is one character (JavaScript: one UTF-16 unit) out of set.
	char struct{ set set }
	// sequence is one after the other; an empty one matches nothing at all.
	sequence []node
	// choice is one or the other, earlier first.
	choice []node
	// group is a pair of parentheses; index 0 captures nothing.
	group struct {
		index int
		body  node
	}
	// repeat is a quantifier. loops marks Java's way with a group that can
	// match in several ways: every iteration may be tried in another.
	repeat struct {
		body     node
		min, max int
		mode     mode
		form     form
		loops    bool
	}
	// anchor holds at a position and takes nothing.
	anchor anchorKind
	// look is look-ahead or look-behind. For Java, within is what the body
	// may measure, and pairs says whether that counts surrogate pairs as one.
	look struct {
		behind, negate bool
		body           node
		within         extent
		pairs          bool
	}
	// atomic is (?>…).
	atomic struct{ body node }
	// backref is what a group captured, once more.
	backref struct {
		index int
		fold  foldMode
	}
	// lineBreak is Java's \R.
	lineBreak struct{}
)

// extent is how many characters a look-behind may take, in Java's 32 bits.
type extent struct{ min, max int32 }

// unlimited is the max of a repeat without one: Java's number for it, on
// whose overflow some of its measurements depend.
const unlimited = math.MaxInt32

type mode uint8

const (
	greedy mode = iota
	lazy
	possessive
)

// form is how a quantifier is written, which matters to Java.
type form uint8

const (
	counted  form = iota // {n} or {n,m}
	open                 // * or + or {n,}
	optional             // ? or {0,1}
)

type foldMode uint8

const (
	foldNone foldMode = iota
	foldASCII
	foldUnicode
)

type anchorKind uint8

const (
	atStart             anchorKind = iota // ^ \A \G
	atEnd                                 // \z; JavaScript's $
	atLastLine                            // Java's $ and \Z
	atLastUnixLine                        // the same under (?d)
	atLineStart                           // Java's ^ under (?m)
	atUnixLineStart                       // the same under (?d)
	atLineEnd                             // Java's $ under (?m)
	atUnixLineEnd                         // the same under (?d)
	atWordEdge                            // \b
	atNoWordEdge                          // \B
	atUnicodeWordEdge                     // Java's \b under (?U)
	atNoUnicodeWordEdge                   // Java's \B under (?U)
)

// nullable reports whether n can match without taking a character.
func nullable(n node) bool {
	switch n := n.(type) {
	case char, lineBreak:
		return false
	case sequence:
		return !slices.ContainsFunc(n, func(m node) bool { return !nullable(m) })
	case choice:
		return slices.ContainsFunc(n, nullable)
	case group:
		return nullable(n.body)
	case atomic:
		return nullable(n.body)
	case repeat:
		return n.min == 0 || nullable(n.body)
	}
	return true
}

// anchored reports whether n contains an anchor.
func anchored(n node) bool {
	if _, ok := n.(anchor); ok {
		return true
	}
	return slices.ContainsFunc(parts(n), anchored)
}

// parts returns what n directly consists of.
func parts(n node) []node {
	switch n := n.(type) {
	case sequence:
		return n
	case choice:
		return n
	case group:
		return []node{n.body}
	case atomic:
		return []node{n.body}
	case look:
		return []node{n.body}
	case repeat:
		return []node{n.body}
	}
	return nil
}
