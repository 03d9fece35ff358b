package branchmask

import (
	"strings"
	"sync"
	"unicode"
)

// Java 17 knows Unicode 13; Go's unicode package is newer. Every table below
// is Go's, cut back to what Unicode 13 had assigned and corrected where a
// character's properties have changed since. TestJavaUnicode holds each of
// them against a digest taken from Java 17.

// assignedSince13 is what Go's tables have beyond Unicode 13 (Unicode 15.0).
const assignedSince13 = `
061D 0870-088E 0890-0891 0898-089F 08B5 08C8-08D2 0C3C 0C5D 0CDD 0CF3 0ECE
170D 1715 171F 180F 1AC1-1ACE 1B4C 1B7D-1B7E 1DFA 20C0 2C2F 2C5F 2E53-2E5D
9FFD-9FFF A7C0-A7C1 A7D0-A7D1 A7D3 A7D5-A7D9 A7F2-A7F4 FBC2 FD40-FD4F FDCF
FDFE-FDFF 10570-1057A 1057C-1058A 1058C-10592 10594-10595 10597-105A1
105A3-105B1 105B3-105B9 105BB-105BC 10780-10785 10787-107B0 107B2-107BA
10EFD-10EFF 10F70-10F89 11070-11075 110C2 1123F-11241 116B9 11740-11746
11AB0-11ABF 11B00-11B09 11F00-11F10 11F12-11F3A 11F3E-11F59 12F90-12FF2 1342F
13439-13455 16A70-16ABE 16AC0-16AC9 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE
1B11F-1B122 1B132 1B155 1CF00-1CF2D 1CF30-1CF46 1CF50-1CFC3 1D1E9-1D1EA
1D2C0-1D2D3 1DF00-1DF1E 1DF25-1DF2A 1E030-1E06D 1E08F 1E290-1E2AE 1E4D0-1E4F9
1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1F6DC-1F6DF 1F774-1F776
1F77B-1F77F 1F7D9 1F7F0 1F979 1F9CC 1FA75-1FA77 1FA7B-1FA7C 1FA87-1FA88
1FAA9-1FAAF 1FAB7-1FABD 1FABF 1FAC3-1FAC5 1FACE-1FACF 1FAD7-1FADB 1FAE0-1FAE8
1FAF0-1FAF8 2A6DE-2A6DF 2B735-2B739 31350-323AF`

// parseSpans reads "0041-005A 005F": hexadecimal characters and spans.
func parseSpans(s string) set {
	hex := func(s string) rune {
		var r rune
		for _, c := range s {
			r = r<<4 | hexDigit(c)
		}
		return r
	}
	var spans []span
	for _, f := range strings.Fields(s) {
		lo, hi, ok := strings.Cut(f, "-")
		if !ok {
			hi = lo
		}
		spans = append(spans, span{hex(lo), hex(hi)})
	}
	return setOf(spans...)
}

// assigned13 is every character of Unicode 13.
var assigned13 = sync.OnceValue(func() set {
	all := setOfTables(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z,
		unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
	return all.minus(parseSpans(assignedSince13))
})

// table13 returns the union of Go's tables as Unicode 13 had them.
func table13(tables ...*unicode.RangeTable) set {
	return setOfTables(tables...).intersect(assigned13())
}

// javaUpper is Character.toUpperCase(int).
func javaUpper(r rune) rune { return caseOf13(r, unicode.ToUpper(r)) }

// javaLower is Character.toLowerCase(int).
func javaLower(r rune) rune { return caseOf13(r, unicode.ToLower(r)) }

// caseOf13 returns to, the other case of r, if Unicode 13 knew both.
func caseOf13(r, to rune) rune {
	if r == to || r < unicode.MaxASCII {
		return to
	}
	if a := assigned13(); !a.contains(r) || !a.contains(to) {
		return r
	}
	return to
}

// javaFold is what Java compares under (?iu).
func javaFold(r rune) rune { return javaLower(javaUpper(r)) }

// foldClass returns folded and every character whose javaFold it is.
func foldClass(folded rune) set {
	spans := []span{{folded, folded}}
	add := func(r rune) {
		if javaFold(r) == folded {
			spans = append(spans, span{r, r})
		}
	}
	for r := unicode.SimpleFold(folded); r != folded; r = unicode.SimpleFold(r) {
		add(r)
	}
	// These two have simple upper and lower cases in i's class, but no
	// simple case folding.
	add('\u0130')
	add('\u0131')
	return setOf(spans...)
}

// casing is a character with its upper case, and the lower case of that, which
// is its javaFold.
type casing struct{ r, upper, folded rune }

// casings are those of every character that has another case.
var casings = sync.OnceValue(func() (all []casing) {
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			upper := javaUpper(r)
			all = append(all, casing{r, upper, javaLower(upper)})
		}
	}
	return all
})

func asciiLower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

func asciiUpper(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r - ('a' - 'A')
	}
	return r
}

func isASCIILetter(r rune) bool {
	r = asciiLower(r)
	return r >= 'a' && r <= 'z'
}

func isASCIIDigit(r rune) bool { return r >= '0' && r <= '9' }

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(r rune) rune {
	switch {
	case isASCIIDigit(r):
		return r - '0'
	case asciiLower(r) >= 'a' && asciiLower(r) <= 'f':
		return asciiLower(r) - 'a' + 10
	}
	return -1
}
