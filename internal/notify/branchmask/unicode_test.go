package branchmask

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestJavaUnicode holds every property, script, block and case mapping against
// digests that were taken from Java 17: the pattern, how many characters it
// matches, and FNV-1a of their spans in hexadecimal. When it fails after an
// upgrade of Go, Go's Unicode tables have changed: java_unicode.go must cut
// them back to Unicode 13 again.
func TestJavaUnicode(t *testing.T) {
	f, err := os.Open("testdata/java17-unicode.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		pattern, n, digest := cutDigest(lines.Text())
		if gotN, gotDigest := digestOf(t, pattern); gotN != n || gotDigest != digest {
			t.Errorf("%s: %d characters, digest %s; Java has %d, %s", pattern, gotN, gotDigest, n, digest)
		}
	}
}

func cutDigest(line string) (pattern string, n int, digest string) {
	i := strings.LastIndexByte(line, ' ')
	line, digest = line[:i], line[i+1:]
	i = strings.LastIndexByte(line, ' ')
	n, _ = strconv.Atoi(line[i+1:])
	return line[:i], n, digest
}

func digestOf(t *testing.T, pattern string) (int, string) {
	switch pattern {
	case "toUpperCase":
		return digestOfCase(javaUpper)
	case "toLowerCase":
		return digestOfCase(javaLower)
	}
	tree, _, err := parseJava(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	n := 0
	for _, p := range tree.(sequence)[0].(char).set {
		n += int(p.hi - p.lo + 1)
		if p.lo == p.hi {
			out = append(out, fmt.Sprintf("%x", p.lo))
		} else {
			out = append(out, fmt.Sprintf("%x-%x", p.lo, p.hi))
		}
	}
	return n, digest(out)
}

func digestOfCase(change func(rune) rune) (int, string) {
	var out []string
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if to := change(r); to != r {
			out = append(out, fmt.Sprintf("%x>%x", r, to))
		}
	}
	return len(out), digest(out)
}

func digest(words []string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(words, " ")))
	return fmt.Sprintf("%016x", h.Sum64())
}

// TestJavaBlockNames says which names of a block are taken.
func TestJavaBlockNames(t *testing.T) {
	taken := []string{
		"GREEK", "greek", "Greek and Coptic", "GreekandCoptic", "LATIN_1_SUPPLEMENT", "Latin-1 Supplement", "Latin-1Supplement",
		"CYRILLIC_SUPPLEMENTARY", "Cyrillic Supplement", "CyrillicSupplement", "CyrillicSupplementary",
		"COMBINING_MARKS_FOR_SYMBOLS", "Combining Diacritical Marks for Symbols", "CombiningMarksforSymbols", "SURROGATES_AREA",
	}
	refused := []string{
		"GREEK_AND_COPTIC", "CYRILLIC_SUPPLEMENT", "COMBINING_DIACRITICAL_MARKS_FOR_SYMBOLS", "Latin 1 Supplement", "Latin1Supplement",
		"Greek_and_Coptic", "Vithkuqi", "",
	}
	for _, name := range taken {
		if _, ok := javaBlock(name); !ok {
			t.Errorf("refuses %q", name)
		}
	}
	for _, name := range refused {
		if _, ok := javaBlock(name); ok {
			t.Errorf("takes %q", name)
		}
	}
}

// TestFoldClass holds the classes of equal characters against the definition.
func TestFoldClass(t *testing.T) {
	want := map[rune]set{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if f := javaFold(r); f != r {
			want[f] = want[f].union(setOf(span{r, r}))
		}
	}
	for f, others := range want {
		if got := foldClass(f); fmt.Sprint(got) != fmt.Sprint(others.union(setOf(span{f, f}))) {
			t.Errorf("U+%04X: %v; want %v", f, got, others)
		}
	}
}

// TestSet holds the operations on sets against asking for each character.
func TestSet(t *testing.T) {
	const last = 40
	spans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) span {
		return span{rapid.Int32Range(0, last).Draw(t, "lo"), rapid.Int32Range(0, last).Draw(t, "hi")}
	}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		a, b := setOf(spans.Draw(t, "a")...), setOf(spans.Draw(t, "b")...)
		union, both, minus, not := a.union(b), a.intersect(b), a.minus(b), a.complement(last)
		for r := rune(0); r <= last; r++ {
			inA, inB := a.contains(r), b.contains(r)
			if union.contains(r) != (inA || inB) || both.contains(r) != (inA && inB) ||
				minus.contains(r) != (inA && !inB) || not.contains(r) == inA || a.lookup().contains(r) != inA {
				t.Fatalf("%v and %v differ at %d", a, b, r)
			}
		}
		for i := 1; i < len(union); i++ {
			if union[i].lo <= union[i-1].hi+1 {
				t.Fatalf("%v touches itself", union)
			}
		}
	})
}
