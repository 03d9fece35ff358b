package branchmask

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSyntaxErrors(t *testing.T) {
	tests := []struct {
		dialect dialect
		pattern string
		pos     int
		reason  string // a part of it
	}{
		{javaDialect, `a{,3}`, 1, "A number must follow {"},
		{javaDialect, `a{2`, 3, "A } must close"},
		{javaDialect, `a{2,x}`, 4, "must follow the comma"},
		{javaDialect, `a{3,2}`, 1, "must not be less"},
		{javaDialect, `a{10001}`, 2, "More than 10000 repetitions"},
		{javaDialect, `a{99999999999999999999}`, 2, "More than 10000 repetitions"},
		{javaDialect, `a**`, 2, "nothing here for * to repeat; write \\*"},
		{javaDialect, `(?i)*`, 4, "nothing here for *"},
		{javaDialect, `ab(main`, 2, "never closed"},
		{javaDialect, `main)`, 4, "closes nothing"},
		{javaDialect, `(?z)main`, 1, "no kind of group"},
		{javaDialect, `(?P<n>a)`, 1, "no kind of group"},
		{javaDialect, `(?#comment)`, 1, "no kind of group"},
		{javaDialect, `(?c)main`, 2, "Canonical equivalence"},
		{javaDialect, `(?<1a>b)`, 3, "must begin with a letter"},
		{javaDialect, `(?<a_b>b)`, 4, "A > must follow"},
		{javaDialect, `(?<a>b)(?<a>c)`, 10, "already a group named a"},
		{javaDialect, `\k<a>(?<a>b)`, 3, "no group named a"},
		{javaDialect, `\ka`, 2, "name must follow \\k"},
		{javaDialect, `x(?<=(?:ab)*)c`, 1, "how long a look-behind can be"},
		{javaDialect, `x(?<!(a)\1)c`, 1, "how long a look-behind can be"},
		{javaDialect, `(?<=(?:a|b){2})c`, 0, "how long a look-behind can be"},
		{javaDialect, `ab[cd`, 2, "never closed"},
		{javaDialect, `[`, 0, "never closed"},
		{javaDialect, `[a-`, 0, "never closed"},
		{javaDialect, `[a&&`, 2, "must follow &&"},
		{javaDialect, `[&&]`, 1, "Nothing follows &&"},
		{javaDialect, `[a-cx&&]`, 5, "Nothing follows &&"},
		{javaDialect, `[z-a]`, 1, "must not come after"},
		{javaDialect, `[a-\d]`, 1, "A range must end with a character"},
		{javaDialect, `[\b]`, 1, "means nothing inside […]"},
		{javaDialect, `\y`, 0, "means nothing to Java"},
		{javaDialect, `é\`, 1, "must be followed by something"},
		{javaDialect, `\p{Foo}`, 0, `no property named "Foo"`},
		{javaDialect, `\p{L`, 0, "A } must close"},
		{javaDialect, `\08`, 2, "An octal digit"},
		{javaDialect, `\x4`, 3, "Two hexadecimal digits"},
		{javaDialect, `\x{110000}`, 2, "no character beyond"},
		{javaDialect, `\x{}`, 2, "Hexadecimal digits must follow"},
		{javaDialect, `\x{41`, 5, "A } must close"},
		{javaDialect, `\u004`, 5, "Four hexadecimal digits"},
		{javaDialect, `a\c`, 3, "must follow \\c"},
		{javaDialect, `\N{DIGIT ONE}`, 0, "by their name"},
		{javaDialect, `a\X`, 1, "Grapheme clusters"},
		{javaDialect, `a\b{g}`, 1, "Grapheme boundaries"},
		{javaDialect, `\Qa+b\E(`, 7, "never closed"}, // counted in the pattern as typed
		{javaDialect, "a\xff", 1, "not valid UTF-8"},
		{jsDialect, `a**`, 2, "nothing here for * to repeat"},
		{jsDialect, `a++`, 2, "nothing here for +"},
		{jsDialect, `{2}`, 0, "nothing here to repeat"},
		{jsDialect, `^*`, 1, "nothing here to repeat"},
		{jsDialect, `(?<=a)*`, 6, "nothing here to repeat"},
		{jsDialect, `a{3,2}`, 1, "must not be less"},
		{jsDialect, `a{20000}`, 1, "More than 10000 repetitions"},
		{jsDialect, `(main`, 0, "never closed"},
		{jsDialect, `main)`, 4, "closes nothing"},
		{jsDialect, `(?i)main`, 1, "no kind of group"},
		{jsDialect, `(?>a)`, 1, "no kind of group"},
		{jsDialect, `(?<>a)`, 3, "must not be empty"},
		{jsDialect, `(?<a-b>a)`, 3, "JavaScript identifier"},
		{jsDialect, `(?<n>a)|(?<n>b)`, 11, "already a group named n"},
		{jsDialect, `(?<n>a)\k<m>`, 7, "no group named m"},
		{jsDialect, `(?<n>a)\k`, 7, "name must follow \\k"},
		{jsDialect, `(?<n>a)[\k]`, 8, "\\k must be followed"},
		{jsDialect, `[abc`, 0, "never closed"},
		{jsDialect, `[z-a]`, 1, "must not come after"},
		{jsDialect, `😀\`, 1, "must be followed by something"}, // a character, not two units
		{jsDialect, `[\`, 1, "must be followed by something"},
		{jsDialect, strings.Repeat("é", 10_001), 10_000, "longer than 10000 characters"},
		{javaDialect, strings.Repeat("é", 10_001), 10_000, "longer than 10000 characters"},
	}
	for _, test := range tests {
		_, err := test.dialect.compile(test.pattern)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%s %.20q: %v; want a SyntaxError", test.dialect.name, test.pattern, err)
			continue
		}
		if syntax.Pos != test.pos || !strings.Contains(syntax.Reason, test.reason) {
			t.Errorf("%s %.20q: %d %q; want %d %q", test.dialect.name, test.pattern, syntax.Pos, syntax.Reason, test.pos, test.reason)
		}
		if !strings.HasSuffix(syntax.Reason, ".") {
			t.Errorf("%s %.20q: %q is no sentence", test.dialect.name, test.pattern, syntax.Reason)
		}
	}
}

func TestSyntaxErrorSaysWhere(t *testing.T) {
	_, err := Java("ab(c")
	if want := "at character 3: This ( is never closed; add ) or write \\(."; err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

// TestLongestPatterns says that what just fits is compiled without much ado.
func TestLongestPatterns(t *testing.T) {
	fill := func(open, middle, end string) string {
		n := (maxPattern - utf8.RuneCountInString(middle)) / utf8.RuneCountInString(open+end)
		return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
	}
	both := []string{
		fill("(", "", ")"), fill("(?:", "a", ")*"), fill("(?=", "a", ")"), fill("(?<=", "a", ")"),
		fill("(", "a", "){2}"), fill("(a|", "", ")?"), fill("a|", "", ""), fill(`a{10000}`, "", ""), fill("(?:", "a", "){10000}"),
	}
	java := []string{
		fill("[", "a", "]"), fill("[a&&", "[a]", "]"), fill("[[a]&&&&", "a", "]"), fill("(?>", "a", ")"), fill("(", "a", ")++"),
		fill(`\p{L}`, "", ""), fill(`(?iu)[a-\x{10FFFF}]`, "", ""), fill(`\p{IsUnknown}`, "", ""), fill("(?x: ", "", " )"),
	}
	for _, pattern := range append(java, both...) {
		if _, err := Java(pattern); err != nil {
			t.Errorf("Java refuses %.20q…: %v", pattern, err)
		}
	}
	for _, pattern := range both {
		if _, err := JavaScript(pattern); err != nil {
			t.Errorf("JavaScript refuses %.20q…: %v", pattern, err)
		}
	}
}

// TestLongestPatternsKeepLittle says that a rule with such a mask, which stays
// in memory, takes a few megabytes at most.
func TestLongestPatternsKeepLittle(t *testing.T) {
	for _, part := range []string{`\p{L}`, `(?i)[\p{L}]`, `[\p{L}&&[^\p{Lu}]]`, `\p{IsUnknown}`, `(?=\p{L})`, `(a*)*`} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		m, err := Java(strings.Repeat(part, maxPattern/utf8.RuneCountInString(part)))
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 4<<20 {
			t.Errorf("%s, over and over, keeps %d KiB", part, kept>>10)
		}
		runtime.KeepAlive(m)
	}
}
