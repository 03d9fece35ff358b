//go:build linux && !race

package branchmask

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// mostToCompile is what compiling one mask may take of a core. A rule has three,
// each is compiled where it is saved and where an event is explained, and who
// administers one repository may have as many rules there as they like.
const mostToCompile = 120 * time.Millisecond

// TestLongMasksCompileQuickly is about patterns of almost the longest that is
// taken, each made of the part that used to cost the most.
func TestLongMasksCompileQuickly(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	whole := func(before, part, after string) string {
		return before + strings.Repeat(part, (maxPattern-len(before)-len(after))/len(part)) + after
	}
	ranges := func(before, after string) string {
		var b strings.Builder
		b.WriteString("(?iu)")
		for r := rune(0x100); r < 0x2700; r += 5 {
			b.WriteString(before + string(r) + "-" + string(r+2) + after)
		}
		return b.String()
	}
	for name, pattern := range map[string]string{
		"ranges, both cases":           whole("(?iu)[", "a-z", "]"),
		"classes, both cases":          whole("(?iu)", "[a-z]", ""),
		"negated classes, both cases":  whole("(?iu)", "[^a-z]", ""),
		"wide ranges, both cases":      whole("(?iu)[", `!-\x{1F000}`, "]"),
		"different ranges, both cases": "(?iu)[" + strings.TrimPrefix(ranges("", ""), "(?iu)") + "]",
		"different classes":            ranges("[", "]"),
		"Unicode words":                whole("(?iuU)", `\w`, ""),
		"Unicode words in a class":     whole("(?iuU)[", `\w`, "]"),
		"letters":                      whole("", `\p{L}`, ""),
		"letters in a class":           whole("[", `\p{L}`, "]"),
		"two properties in a class":    whole("[", `\p{L}\P{M}`, "]"),
		"intersections":                whole("[", `\p{L}&&`, "a]"),
		"a script":                     whole("", `\p{IsHan}`, ""),
		"a block":                      whole("", `\p{InTags}`, ""),
		"a method of Java":             whole("", `\p{javaJavaIdentifierStart}`, ""),
	} {
		least := time.Hour
		for range 3 { // other processes use the caches meanwhile
			begun := threadTime(t)
			if _, err := Java(pattern); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if least = min(least, threadTime(t)-begun); least < mostToCompile {
				break
			}
		}
		if least > mostToCompile {
			t.Errorf("%s: %v of a core", name, least)
		}
	}
}
