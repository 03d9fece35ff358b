// Package branchmask compiles the branch masks of rules: regular expressions
// in the dialects of the two editions of the code-hosting platform, decided
// exactly as the platform's own engine decides them.
//
// Java is java.util.regex of Java 17 under Matcher.matches(), that is, the
// whole branch name must match. Its Unicode tables are those of Unicode 13.
// JavaScript is a RegExp without flags under RegExp.test, that is, the mask
// may be found anywhere in the branch name.
//
// A pattern that Go's regexp package decides identically runs there, in
// linear time. Every other pattern runs on a backtracking matcher that takes
// the same steps as the original, quirks included, and gives up after a fixed
// number of them.
//
// Whatever cannot be decided exactly is refused when it is compiled: Java's
// \N{…}, \X, \b{g} and (?c), an && in a class at which Java compiles but then
// throws, and what is over the limits (10,000 characters; counts of 10,000).
package branchmask

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"unicode/utf8"
)

const (
	// maxPattern is how many characters a pattern may have. Masks are typed
	// by people; the limit bounds what compiling one can cost.
	maxPattern = 10_000

	// maxRepeat is the highest count of {n,m}. No branch name is as long.
	maxRepeat = 10_000

	// maxSteps is what one Match may cost, at 10 to 30 ns a step. A branch
	// name of 250 characters takes some hundred steps under sensible masks
	// and 60,000 where every position looks at every other.
	maxSteps = 1_200_000

	// maxLinearWork is the same for Go's regexp: the size of the pattern times the
	// length of the name, at up to 20 ns.
	maxLinearWork = 2_000_000

	// maxQuick is how much of that may be spent where an event is received.
	maxQuick = 100_000

	// maxFrames bounds the memory of one Match: 16 bytes a frame, 4 MiB.
	// 250 characters in groups in groups take some thousand.
	maxFrames = 1 << 18
)

// ErrBudget is returned by Match when the mask needs more steps or memory for
// this branch name than one match may take. It depends on the mask and the
// name only, never on how busy the machine is.
var ErrBudget = errors.New("the branch mask takes too many steps on this branch name")

// errEngine is returned by Match where java.util.regex itself throws: for a
// case-insensitive back-reference to a group that holds characters beyond
// U+FFFF, near the end of the name.
var errEngine = errors.New("the engine of Java itself fails with this branch mask on this branch name")

// SyntaxError says why a pattern was refused.
type SyntaxError struct {
	Pos    int    // where, in characters from the start of the pattern, counted from 0
	Reason string // a sentence that tells what to do
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("at character %d: %s", e.Pos+1, e.Reason)
}

// Mask is a compiled branch mask. It may be used from several goroutines.
type Mask struct {
	pattern string
	linear  *regexp.Regexp // nil: run prog
	size    int            // of linear
	prog    *program
	long    bool // of prog: for its length alone
	units   bool // linear is about UTF-16 units
}

// Java compiles a mask in the dialect of java.util.regex of Java 17. Errors
// are *SyntaxError.
func Java(pattern string) (*Mask, error) {
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	tree, groups, err := parseJava(pattern)
	if err != nil {
		return nil, err
	}
	re, size, long := linearJava(tree)
	if re != nil {
		return &Mask{pattern: pattern, linear: re, size: size}, nil
	}
	return &Mask{pattern: pattern, prog: compileJava(tree, groups), long: long}, nil
}

// JavaScript compiles a mask in the dialect of a JavaScript RegExp without
// flags (ECMAScript 2023 with Annex B). Errors are *SyntaxError.
func JavaScript(pattern string) (*Mask, error) {
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	tree, groups, err := parseJS(pattern)
	if err != nil {
		return nil, err
	}
	re, size, long := linearJS(tree)
	if re != nil {
		return &Mask{pattern: pattern, linear: re, size: size, units: true}, nil
	}
	return &Mask{pattern: pattern, prog: compileJS(tree, groups), long: long}, nil
}

// String is the pattern.
func (m *Mask) String() string { return m.pattern }

// Match reports whether the mask takes the branch. The error is ErrBudget or
// errEngine; where the mask is Quick there is none.
func (m *Mask) Match(branch string) (bool, error) {
	left := math.MaxInt
	return m.MatchWithin(branch, &left)
}

// MatchWithin is Match, for several branches that may cost no more than so many
// steps together: what this one costs is taken from left. The error is ErrBudget
// also where too few are left.
func (m *Mask) MatchWithin(branch string, left *int) (bool, error) {
	if m.linear == nil {
		run := m.prog.machine(branch)
		allowed := max(0, min(maxSteps, *left))
		run.steps = allowed
		takes, err := run.match()
		*left -= allowed - max(run.steps, 0)
		return takes, err
	}
	work := m.size * len(branch)
	if work > min(maxLinearWork, *left) {
		return false, ErrBudget
	}
	*left -= work
	if m.units {
		branch = plantUnits(branch)
	}
	return m.linear.MatchString(branch), nil
}

// Tried is what a mask says of a branch name.
type Tried struct {
	Branch string
	Match  bool
	Err    error // see Match; nil where Match says it
}

// Try says what the mask makes of a branch name, as a rule does.
func (m *Mask) Try(branch string) Tried {
	matches, err := m.Match(branch)
	return Tried{branch, matches, err}
}

// Quick says that Match(branch) takes a millisecond or two at most and cannot
// fail, so that it may run where an event is received.
func (m *Mask) Quick(branch string) bool {
	return m.linear != nil && m.size*len(branch) <= maxQuick
}

// Backtracks says that the mask has parts that are decided by backtracking. Where
// it has none, only a long mask or a long branch name keeps it from being Quick.
func (m *Mask) Backtracks() bool { return m.prog != nil && !m.long }

// checkPattern refuses what neither parser should see.
func checkPattern(pattern string) error {
	pos := 0
	for i, r := range pattern {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(pattern[i:]); size == 1 {
				return &SyntaxError{pos, "This is not valid UTF-8; type the pattern again."}
			}
		}
		if pos == maxPattern {
			return &SyntaxError{pos, fmt.Sprintf("The pattern is longer than %d characters; shorten it or use several rules.", maxPattern)}
		}
		pos++
	}
	return nil
}
