package branchmask

import (
	"strings"
	"unicode"
)

// javaBinary returns a Unicode property by the names that follow \p{Is, which
// are the POSIX names under UNICODE_CHARACTER_CLASS too. Case does not matter
// in name.
func javaBinary(name string, fold bool) (set, bool) {
	switch strings.ToUpper(name) {
	case "WHITE_SPACE", "WHITESPACE":
		return unicodeSpace(), true
	case "LETTER":
		return table13(unicode.L), true
	case "IDEOGRAPHIC":
		return table13(unicode.Ideographic), true
	case "LOWERCASE", "UPPERCASE", "TITLECASE":
		return javaCased(strings.ToUpper(name), fold), true
	case "ALPHABETIC":
		return javaAlphabetic(), true
	case "CONTROL":
		return table13(unicode.Cc), true
	case "PUNCTUATION":
		return table13(unicode.P), true
	case "HEX_DIGIT", "HEXDIGIT":
		return unicodeHexDigits(), true
	case "ASSIGNED":
		return assigned13(), true
	case "NONCHARACTER_CODE_POINT", "NONCHARACTERCODEPOINT":
		return setOfTables(unicode.Noncharacter_Code_Point), true
	case "JOIN_CONTROL", "JOINCONTROL":
		return setOfTables(unicode.Join_Control), true
	case "WORD":
		return unicodeWord(), true
	}
	return javaPOSIX(name, fold)
}

// javaPOSIX returns the POSIX classes under UNICODE_CHARACTER_CLASS. Case does
// not matter in name.
func javaPOSIX(name string, fold bool) (set, bool) {
	switch strings.ToUpper(name) {
	case "ALPHA":
		return javaAlphabetic(), true
	case "LOWER":
		return javaCased("LOWERCASE", fold), true
	case "UPPER":
		return javaCased("UPPERCASE", fold), true
	case "SPACE":
		return unicodeSpace(), true
	case "PUNCT":
		return table13(unicode.P), true
	case "XDIGIT":
		return unicodeHexDigits(), true
	case "ALNUM":
		return javaAlphabetic().union(table13(unicode.Nd)), true
	case "CNTRL":
		return table13(unicode.Cc), true
	case "DIGIT":
		return table13(unicode.Nd), true
	case "BLANK":
		return unicodeBlank(), true
	case "GRAPH":
		return unicodeGraph(), true
	case "PRINT":
		return unicodeGraph().union(unicodeBlank()).minus(table13(unicode.Cc)), true
	}
	return nil, false
}

// javaMethod returns the classes that are named after methods of Character.
func javaMethod(name string, fold bool) (set, bool) {
	ignorable := func() set {
		return table13(unicode.Cf).union(setOf(span{0, 8}, span{0xe, 0x1b}, span{0x7f, 0x9f}))
	}
	switch name {
	case "javaLowerCase", "javaUpperCase", "javaTitleCase":
		return javaCased(strings.ToUpper(strings.TrimPrefix(name, "java")), fold), true
	case "javaAlphabetic":
		return javaAlphabetic(), true
	case "javaIdeographic":
		return table13(unicode.Ideographic), true
	case "javaDigit":
		return table13(unicode.Nd), true
	case "javaDefined":
		return assigned13(), true
	case "javaLetter":
		return table13(unicode.L), true
	case "javaLetterOrDigit":
		return table13(unicode.L, unicode.Nd), true
	case "javaJavaIdentifierStart":
		return table13(unicode.L, unicode.Nl, unicode.Sc, unicode.Pc), true
	case "javaJavaIdentifierPart":
		return table13(unicode.L, unicode.Nl, unicode.Sc, unicode.Pc, unicode.Nd, unicode.Mc, unicode.Mn).union(ignorable()), true
	case "javaUnicodeIdentifierStart":
		return table13(unicode.L, unicode.Nl, unicode.Other_ID_Start), true
	case "javaUnicodeIdentifierPart":
		return table13(unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Pc, unicode.Nd, unicode.Mc, unicode.Mn,
			unicode.Other_ID_Continue).union(ignorable()), true
	case "javaIdentifierIgnorable":
		return ignorable(), true
	case "javaSpaceChar":
		return table13(unicode.Z), true
	case "javaWhitespace":
		return table13(unicode.Z).union(setOf(span{9, 13}, span{0x1c, 0x1f})).minus(setOfRunes("\u00a0\u2007\u202f")), true
	case "javaISOControl":
		return setOf(span{0, 0x1f}, span{0x7f, 0x9f}), true
	case "javaMirrored":
		return parseSpans(mirrored), true
	}
	return nil, false
}

// javaCased returns LOWERCASE, UPPERCASE or TITLECASE; under fold all three.
func javaCased(name string, fold bool) set {
	lower := table13(unicode.Ll, unicode.Other_Lowercase).minus(setOfRunes("\u10fc\uab69")) // lower case since 14
	upper := table13(unicode.Lu, unicode.Other_Uppercase)
	title := table13(unicode.Lt)
	switch {
	case fold:
		return lower.union(upper).union(title)
	case name == "LOWERCASE":
		return lower
	case name == "UPPERCASE":
		return upper
	}
	return title
}

func javaAlphabetic() set {
	since14 := setOfRunes("\u0c04\u0f82\u0f83\U00011080\U00011081")
	return table13(unicode.L, unicode.Nl, unicode.Other_Alphabetic).minus(since14)
}

func unicodeSpace() set { return setOfTables(unicode.White_Space) }

func unicodeBlank() set { return table13(unicode.Zs).union(setOfRunes("\t")) }

func unicodeGraph() set {
	return assigned13().minus(unicodeSpace().union(table13(unicode.Cc, unicode.Cs)))
}

// unicodeHexDigits are what Java takes for them: every decimal digit too.
func unicodeHexDigits() set {
	return table13(unicode.Nd).union(setOfTables(unicode.Hex_Digit))
}

// unicodeWord is \w under UNICODE_CHARACTER_CLASS.
func unicodeWord() set {
	return javaAlphabetic().union(table13(unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control))
}

// mirrored is Character.isMirrored (Bidi_Mirrored), which Go has no table of.
const mirrored = `
0028-0029 003C 003E 005B 005D 007B 007D 00AB 00BB 0F3A-0F3D 169B-169C
2039-203A 2045-2046 207D-207E 208D-208E 2140 2201-2204 2208-220D 2211
2215-2216 221A-221D 221F-2222 2224 2226 222B-2233 2239 223B-224C 2252-2255
225F-2260 2262 2264-226B 226E-228C 228F-2292 2298 22A2-22A3 22A6-22B8
22BE-22BF 22C9-22CD 22D0-22D1 22D6-22ED 22F0-22FF 2308-230B 2320-2321
2329-232A 2768-2775 27C0 27C3-27C6 27C8-27C9 27CB-27CD 27D3-27D6 27DC-27DE
27E2-27EF 2983-2998 299B-29A0 29A2-29AF 29B8 29C0-29C5 29C9 29CE-29D2
29D4-29D5 29D8-29DC 29E1 29E3-29E5 29E8-29E9 29F4-29F9 29FC-29FD 2A0A-2A1C
2A1E-2A21 2A24 2A26 2A29 2A2B-2A2E 2A34-2A35 2A3C-2A3E 2A57-2A58 2A64-2A65
2A6A-2A6D 2A6F-2A70 2A73-2A74 2A79-2AA3 2AA6-2AAD 2AAF-2AD6 2ADC 2ADE
2AE2-2AE6 2AEC-2AEE 2AF3 2AF7-2AFB 2AFD 2BFE 2E02-2E05 2E09-2E0A 2E0C-2E0D
2E1C-2E1D 2E20-2E29 3008-3011 3014-301B FE59-FE5E FE64-FE65 FF08-FF09 FF1C
FF1E FF3B FF3D FF5B FF5D FF5F-FF60 FF62-FF63 1D6DB 1D715 1D74F 1D789 1D7C3`
