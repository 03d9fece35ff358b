package branchmask

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// patterns generates patterns that mostly compile and are about the letters
// in branches. Without all of a dialect, Go's regexp could decide them.
func (d dialect) patterns(all bool, depth int) *rapid.Generator[string] {
	atoms := list{"a", "b", "1", "/", ".", "[ab]", "[^a]", `\w`, `\d`, `\S`, "ab", "a/"}
	opens := list{"(", "(?:"}
	quantifiers := list{"", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,}", "*?", "+?", "??"}
	if all {
		atoms = append(atoms, "^", "$", `\b`, `\B`, `\1`, `\2`, `\x61`, "😀")
		opens = append(opens, "(?=", "(?!", "(?<!", "(?<=")
	}
	if all && d.name == javaDialect.name {
		atoms = append(atoms, `\Z`, `\R`, "[a-z&&[^b]]", `\p{L}`, `\Q.\E`)
		opens = append(opens, "(?>", "(?i:", "(?s:")
		quantifiers = append(quantifiers, "*+", "?+", "{1,2}+")
	}
	return rapid.Custom(func(t *rapid.T) string {
		var out strings.Builder
		for range rapid.IntRange(1, 3).Draw(t, "length") {
			atom := rapid.SampledFrom(atoms).Draw(t, "atom")
			if depth > 0 && rapid.IntRange(0, 2).Draw(t, "deeper") == 0 {
				inner := d.patterns(all, depth-1)
				atom = rapid.SampledFrom(opens).Draw(t, "open") + inner.Draw(t, "inner")
				if rapid.Bool().Draw(t, "choice") {
					atom += "|" + inner.Draw(t, "other")
				}
				atom += ")"
			}
			out.WriteString(atom)
			if quantifiable := d.name == javaDialect.name || !strings.Contains("^$\\b\\B", atom) && !strings.HasPrefix(atom, "(?<"); quantifiable {
				out.WriteString(rapid.SampledFrom(quantifiers).Draw(t, "quantifier"))
			}
		}
		return out.String()
	})
}

func branches() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("aaabbAé1/-. \n\r😀")), 0, 8, -1)
}

// TestPathsAgree holds Go's regexp and the matcher of our own against each
// other.
func TestPathsAgree(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			linear := 0
			rapid.Check(t, func(rt *rapid.T) {
				pattern := d.patterns(false, 3).Draw(rt, "pattern")
				for range 5 {
					if d.agree(t, pattern, branches().Draw(rt, "branch")) {
						linear++
					}
				}
			})
			if linear == 0 {
				t.Error("no pattern was linear")
			}
		})
	}
}

// agree fails where the two paths differ, and says whether there were two.
func (d dialect) agree(t *testing.T, pattern, branch string) bool {
	t.Helper()
	m, err := d.compile(pattern)
	var syntax *SyntaxError
	if err != nil {
		if !errors.As(err, &syntax) || syntax.Pos < 0 || syntax.Pos > utf8.RuneCountInString(pattern) || syntax.Reason == "" {
			t.Errorf("%s %q: %v", d.name, pattern, err)
		}
		return false
	}
	got, err := m.Match(branch)
	again, againErr := d.backtrack(t, pattern, branch)
	if errors.Is(againErr, ErrBudget) && (m.linear != nil) {
		return false
	}
	if got != again || !errors.Is(againErr, err) {
		t.Errorf("%s %q on %q: %v, %v; backtracking: %v, %v", d.name, pattern, branch, got, err, again, againErr)
	}
	return (m.linear != nil)
}

func (d dialect) fuzz(f *testing.F, seeds ...string) {
	for _, s := range seeds {
		f.Add(s, "feature/ABC-1")
	}
	f.Add(`^(?:a|b)*$`, "ab\n")
	f.Add("(😀|[^a])+?", "😀\xff")
	f.Fuzz(func(t *testing.T, pattern, branch string) {
		if len(branch) < 1000 {
			d.agree(t, pattern, branch)
		}
	})
}

func FuzzJava(f *testing.F) {
	javaDialect.fuzz(f, `(?iu)[a-z&&[^m]]++\Q.\E`, `(?<=^a{1,3})\R(?x: b # c`, `\p{IsGreek}(?>a)\1\x{61}\0101`, `(?:(\w)*-)*\k<a>`)
}

func FuzzJavaScript(f *testing.F) {
	jsDialect.fuzz(f, `(?<=\1(a))[^\d-x]\cJ`, `(?<a>b)\k<a>{1,}?`, `\u{61}[\b]\08`)
}

// inNode prints what RegExp.test says of each pattern and branch.
const inNode = `
for (const [pattern, branches] of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
  let re
  try { re = new RegExp(pattern) } catch { console.log("refused"); continue }
  console.log(branches.map((b) => re.test(b)).join(" "))
}`

// TestNode compares with a real engine.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("install Node.js: its engine is what is compared with")
	}
	var questions [][2]any
	for seed := range 1000 {
		pattern := jsDialect.patterns(true, 2).Example(seed)
		questions = append(questions, [2]any{pattern, rapid.SliceOfN(branches(), 8, 8).Example(seed)})
	}
	input, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "-e", inNode)
	cmd.Stdin = bytes.NewReader(input)
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(bytes.NewReader(output))
	for _, q := range questions {
		if !answers.Scan() {
			t.Fatal("node gave too few answers")
		}
		pattern, branches := q[0].(string), q[1].([]string)
		if got := answer(pattern, branches); got != answers.Text() && !strings.Contains(got, ErrBudget.Error()) {
			t.Errorf("%q on %q: %s; node: %s", pattern, branches, got, answers.Text())
		}
	}
}

func answer(pattern string, branches []string) string {
	m, err := JavaScript(pattern)
	if err != nil {
		return "refused"
	}
	var out []string
	for _, b := range branches {
		ok, err := m.Match(b)
		if err != nil {
			return err.Error()
		}
		out = append(out, fmt.Sprint(ok))
	}
	return strings.Join(out, " ")
}
