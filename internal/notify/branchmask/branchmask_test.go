package branchmask

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dialect is what the tests need of one.
type dialect struct {
	name    string
	compile func(pattern string) (*Mask, error)
	parse   func(pattern string) (node, int, error)
	program func(tree node, groups int) *program
}

var (
	javaDialect = dialect{"java", Java, parseJava, compileJava}
	jsDialect   = dialect{"javascript", JavaScript, parseJS, compileJS}
)

func dialects() []dialect { return []dialect{javaDialect, jsDialect} }

// backtrack decides on the matcher of our own, whether or not Go's regexp
// could.
func (d dialect) backtrack(t testing.TB, pattern, branch string) (bool, error) {
	t.Helper()
	tree, groups, err := d.parse(pattern)
	if err != nil {
		t.Fatalf("%s refuses %q: %v", d.name, pattern, err)
	}
	return d.program(tree, groups).machine(branch).match()
}

// check compares what pattern says of branch, on both paths where there are
// two.
func (d dialect) check(t *testing.T, pattern, branch string, want bool) {
	t.Helper()
	m, err := d.compile(pattern)
	if err != nil {
		t.Errorf("%s refuses %q: %v", d.name, pattern, err)
		return
	}
	got, err := m.Match(branch)
	if err != nil || got != want {
		t.Errorf("%s %q on %q: %v, %v; want %v", d.name, pattern, branch, got, err, want)
	}
	if got, err := d.backtrack(t, pattern, branch); err != nil || got != want {
		t.Errorf("%s %q on %q, backtracking: %v, %v; want %v", d.name, pattern, branch, got, err, want)
	}
}

// shared returns the folder of the vectors, which is not part of the repository.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("OUTRIGGER_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the vectors are not here (%v); set OUTRIGGER_SHARED to where they are", err)
	}
	return dir
}

func TestVectors(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			f, err := os.Open(filepath.Join(shared(t), "vectors", d.name+"-regex.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			n := 0
			for ; lines.Scan(); n++ {
				d.vector(t, lines.Bytes())
			}
			if err := lines.Err(); err != nil || n == 0 {
				t.Fatalf("read %d vectors: %v", n, err)
			}
		})
	}
}

func (d dialect) vector(t *testing.T, line []byte) {
	t.Helper()
	var v struct {
		Pattern string
		OK      bool
		Cases   [][2]any
	}
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	_, err := d.compile(v.Pattern)
	mayRefuse := strings.Contains(v.Pattern, `\N{`) || strings.Contains(v.Pattern, `\X`)
	switch {
	case err != nil && v.OK && !mayRefuse:
		t.Errorf("%s refuses %q: %v", d.name, v.Pattern, err)
	case err == nil && !v.OK:
		t.Errorf("%s takes %q", d.name, v.Pattern)
	case err == nil:
		for _, c := range v.Cases {
			d.check(t, v.Pattern, c[0].(string), c[1].(bool))
		}
	}
}

// TestLinear says which masks may run where an event is received.
func TestLinear(t *testing.T) {
	tests := []struct {
		dialect dialect
		pattern string
		want    bool
	}{
		{javaDialect, `main|master`, true},
		{javaDialect, `^(?:release|hotfix)/\d+(\.\d+)*$`, true},
		{javaDialect, `(?i)feature/[\p{L}&&[^x]]+?.*`, true},
		{javaDialect, `(?s)\Aa.{3,}\Z`, true},
		{javaDialect, `(a+)+$`, true},
		{javaDialect, `(?!feature/).*`, false},
		{javaDialect, `(a)\1`, false},
		{javaDialect, `\w++/.*`, false},
		{javaDialect, `(?>a|ab)c`, false},
		{javaDialect, `\bmain`, false}, // not Go's \b
		{javaDialect, `a$b`, false},    // not Go's $
		{javaDialect, `(?m)^main`, false},
		{javaDialect, `(?:^|a){2}`, false}, // Java leaves the loop after ^
		{javaDialect, `(?:a{5}){100}`, true},
		{javaDialect, `(?:a{10}){100}`, false}, // more than maxLinear
		{jsDialect, `^main$`, true},
		{jsDialect, `\bmain\b`, true},
		{jsDialect, `[^]{2}`, true},
		{jsDialect, `(?:^|a){2}`, true},
		{jsDialect, `^(?!feature/)`, false},
		{jsDialect, `(?<=release/)\d`, false},
		{jsDialect, `(a)\1`, false},
		{jsDialect, `a{1001}`, false},
	}
	for _, test := range tests {
		m, err := test.dialect.compile(test.pattern)
		if err != nil {
			t.Errorf("%s refuses %q: %v", test.dialect.name, test.pattern, err)
		} else if (m.linear != nil) != test.want {
			t.Errorf("%s %q: Linear() is %v", test.dialect.name, test.pattern, (m.linear != nil))
		}
	}
}

// TestBudget runs masks that would take for ever, and one that Java itself
// could not take to an end.
func TestBudget(t *testing.T) {
	letters := strings.Repeat("a", 10_000)
	tests := []struct {
		pattern string
		want    error
	}{
		{`(a+)+$`, nil}, // decided in linear time
		{`(a+)+$(?!b)`, nil},
		{`(a+)+(?=b)`, ErrBudget},
		{`(a|a)*\1c`, ErrBudget},
		{`(?:a?a?a?)*(?=b)`, ErrBudget},
		{`((a*)*)*\2b`, ErrBudget},
		{`(?:(?:a*)*)*(?=b)`, ErrBudget},
		{`(?:a|(?=a)a)*(?=b)`, ErrBudget},
	}
	for _, d := range dialects() {
		for _, test := range tests {
			m, err := d.compile(test.pattern)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Match(letters); !errors.Is(err, test.want) {
				t.Errorf("%s %q: %v; want %v", d.name, test.pattern, err, test.want)
			}
		}
	}
}

// TestBudgetHolds bounds the time of all of these, in steps instead of seconds.
// It says that neither steps nor memory go beyond their limits
// by more than one instruction's worth.
func TestBudgetHolds(t *testing.T) {
	patterns := []string{
		`(a+)+(?=b)`, `(?:(a)|b)*(?=b)`, `(?:(?=(a))a)*(?=b)`, `(?:a|b)*?(?=b)`, `((((((a)))))|b)*(?!)`,
		`(a*)(?:\1a)*(?=b)`, `(?:a{1,2}){0,10000}(?=b)`, `(?<=a{0,10000})b`,
	}
	branch := strings.Repeat("a", 400_000)
	for _, d := range dialects() {
		for _, pattern := range patterns {
			tree, groups, err := d.parse(pattern)
			if err != nil {
				t.Fatal(err)
			}
			m := d.program(tree, groups).machine(branch)
			if _, err := m.match(); !errors.Is(err, ErrBudget) && m.steps < 0 {
				t.Errorf("%s %q: %v after all steps", d.name, pattern, err)
			}
			if m.steps < -len(branch) || len(m.frames) > maxFrames+100 {
				t.Errorf("%s %q: %d steps left, %d frames", d.name, pattern, m.steps, len(m.frames))
			}
		}
	}
}

// TestBudgetIsFair says that what people write stays far below the budget.
func TestBudgetIsFair(t *testing.T) {
	branch := "feature/" + strings.Repeat("ABC-123-some-words/", 13) // 255 characters, the most that a ref may have
	for _, d := range dialects() {
		for _, pattern := range []string{
			`^(?!main$|master$|release/).*$`, `.*(?<!wip)`, `(?!.*(foo|bar).*(baz|qux)).*`, `(.*)/.*-\1`,
			`(?=.*\d)(?=.*[A-Z])(?=.*-).*x`, `(?:(?!-).)*`, `(?:[^/]+/)*(?!x)y`,
		} {
			tree, groups, err := d.parse(pattern)
			if err != nil {
				t.Fatal(err)
			}
			m := d.program(tree, groups).machine(branch)
			if _, err := m.match(); err != nil || m.steps < maxSteps/2 {
				t.Errorf("%s %q: %v, %d of %d steps left", d.name, pattern, err, m.steps, maxSteps)
			}
		}
	}
}

func TestEngineFails(t *testing.T) {
	m, err := Java("(?i)(\U0001F600)\\1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Match("\U0001F600\U0001F600"); !errors.Is(err, errEngine) {
		t.Errorf("got %v; Java throws StringIndexOutOfBoundsException", err)
	}
}

// TestInvalidUTF8 says that a name that is not UTF-8 is matched as if each
// broken byte were U+FFFD, on both paths.
func TestInvalidUTF8(t *testing.T) {
	for _, d := range dialects() {
		d.check(t, `^a\uFFFDb$`, "a\xffb", true)
		d.check(t, `^a.b$`, "a\xffb", true)
		d.check(t, `^a[a-z]b$`, "a\xffb", false)
	}
}
