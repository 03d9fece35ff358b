package branchmask

import (
	_ "embed"
	"strings"
	"unicode"
)

// The characters that the predefined classes of java.util.regex consist of
// without UNICODE_CHARACTER_CLASS.
var (
	asciiDigits = setOf(span{'0', '9'})
	asciiAlpha  = setOf(span{'A', 'Z'}, span{'a', 'z'})
	asciiWord   = setOf(span{'0', '9'}, span{'A', 'Z'}, span{'_', '_'}, span{'a', 'z'})
	asciiSpace  = setOf(span{'\t', '\r'}, span{' ', ' '})
	vertical    = setOf(span{'\n', '\r'}, span{0x85, 0x85}, span{0x2028, 0x2029})
	horizontal  = setOf(span{'\t', '\t'}, span{' ', ' '}, span{0xa0, 0xa0}, span{0x1680, 0x1680},
		span{0x180e, 0x180e}, span{0x2000, 0x200a}, span{0x202f, 0x202f}, span{0x205f, 0x205f}, span{0x3000, 0x3000})
	everything = setOf(span{0, unicode.MaxRune})
)

// java_blocks.txt lists the Unicode blocks that Java 17 knows, by their
// official names (Blocks.txt of the Unicode Character Database).
//
//go:embed java_blocks.txt
var javaBlocks string

// java_scripts.txt lists the scripts that Java 17 knows and their ISO 15924
// codes.
//
//go:embed java_scripts.txt
var javaScripts string

// javaBlock returns the block that Character.UnicodeBlock.forName finds: by its
// official name, the same without blanks, or the name of Java's constant.
func javaBlock(name string) (set, bool) {
	name = strings.ToUpper(name)
	if name == "SURROGATES_AREA" { // a constant without characters since Java 5
		return nil, true
	}
	switch name {
	case "GREEK":
		name = "GREEK AND COPTIC"
	case "CYRILLIC_SUPPLEMENTARY", "CYRILLIC SUPPLEMENTARY", "CYRILLICSUPPLEMENTARY":
		name = "CYRILLIC SUPPLEMENT"
	case "COMBINING_MARKS_FOR_SYMBOLS", "COMBINING MARKS FOR SYMBOLS", "COMBININGMARKSFORSYMBOLS":
		name = "COMBINING DIACRITICAL MARKS FOR SYMBOLS"
	case "GREEK_AND_COPTIC", "CYRILLIC_SUPPLEMENT", "COMBINING_DIACRITICAL_MARKS_FOR_SYMBOLS":
		return nil, false // Java's constants have the names above
	}
	constant := strings.NewReplacer(" ", "_", "-", "_")
	for line := range strings.Lines(javaBlocks) {
		spans, official, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " ")
		if name == official || name == strings.ReplaceAll(official, " ", "") || name == constant.Replace(official) {
			return parseSpans(spans), true
		}
	}
	return nil, false
}

// javaScript returns the script that Character.UnicodeScript.forName finds: by
// its name or its ISO 15924 code.
func javaScript(name string) (set, bool) {
	name = strings.ToUpper(name)
	for line := range strings.Lines(javaScripts) {
		script, code, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == script || code != "" && name == strings.ToUpper(code) {
			return scriptSet(script), true
		}
	}
	return nil, false
}

func scriptSet(script string) set {
	var tables []*unicode.RangeTable
	for name, table := range unicode.Scripts {
		if script == "UNKNOWN" || strings.ToUpper(name) == script {
			tables = append(tables, table)
		}
	}
	if script == "UNKNOWN" { // what is in none
		return table13(tables...).complement(unicode.MaxRune)
	}
	return asOf13(script, table13(tables...))
}

// asOf13 gives back to a script what has moved to another since Unicode 13.
func asOf13(script string, s set) set {
	alternateReading := setOf(span{0x16fe2, 0x16fe3})
	switch script {
	case "HAN":
		return s.minus(alternateReading)
	case "COMMON":
		return s.union(alternateReading)
	}
	return s
}

// javaCategory returns a general category, or one of the names that Java adds
// to them. Under fold, every category of case is all three.
func javaCategory(name string, fold bool) (set, bool) {
	switch name {
	case "Lu", "Ll", "Lt":
		if fold {
			return table13(unicode.Lu, unicode.Ll, unicode.Lt), true
		}
	case "Mn":
		return nonSpacingMarks(), true
	case "Mc":
		return table13(unicode.Mc).minus(setOfRunes(hanunooPamudpod)), true
	case "LC":
		return table13(unicode.Lu, unicode.Ll, unicode.Lt), true
	case "LD":
		return table13(unicode.L, unicode.Nd), true
	case "L1":
		return setOf(span{0, 255}), true
	case "all":
		return everything, true
	case "ASCII":
		return setOf(span{0, 127}), true
	case "Cn":
		return assigned13().complement(unicode.MaxRune), true
	case "C":
		return table13(unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs).union(assigned13().complement(unicode.MaxRune)), true
	}
	if table, ok := unicode.Categories[name]; ok {
		return table13(table), true
	}
	return nil, false
}

// hanunooPamudpod was a non-spacing mark in Unicode 13.
const hanunooPamudpod = "\u1734"

func nonSpacingMarks() set {
	return table13(unicode.Mn).union(setOfRunes(hanunooPamudpod))
}

// javaASCIIClass returns the POSIX classes without UNICODE_CHARACTER_CLASS.
func javaASCIIClass(name string, fold bool) (set, bool) {
	switch name {
	case "Alnum":
		return asciiAlpha.union(asciiDigits), true
	case "Alpha":
		return asciiAlpha, true
	case "Blank":
		return setOfRunes(" \t"), true
	case "Cntrl":
		return setOf(span{0, 0x1f}, span{0x7f, 0x7f}), true
	case "Digit":
		return asciiDigits, true
	case "Graph":
		return setOf(span{'!', '~'}), true
	case "Lower", "Upper":
		switch {
		case fold:
			return asciiAlpha, true
		case name == "Lower":
			return setOf(span{'a', 'z'}), true
		}
		return setOf(span{'A', 'Z'}), true
	case "Print":
		return setOf(span{' ', '~'}), true
	case "Punct":
		return setOf(span{'!', '~'}).minus(asciiAlpha.union(asciiDigits)), true
	case "Space":
		return asciiSpace, true
	case "XDigit":
		return setOf(span{'0', '9'}, span{'A', 'F'}, span{'a', 'f'}), true
	}
	return nil, false
}

// property parses \p and \P.
func (p *javaParser) property() set {
	at := p.cur
	negate := p.at(p.cur+1) == 'P'
	p.cur++
	var name string
	if p.next() == '{' {
		p.next()
		from := p.cur
		for p.read() != '}' {
			if p.cur > p.end {
				p.refuse(at, "A } must close this property.")
			}
		}
		name = string(p.text[from : p.cur-1])
	} else {
		name = string(p.read())
	}
	letter := "\\p"
	if negate {
		letter = "\\P"
	}
	s, ok := p.meaning(letter+name, func() (set, bool) {
		s, ok := p.propertySet(name)
		if ok && negate {
			s = s.complement(unicode.MaxRune)
		}
		return s, ok
	})
	if !ok {
		p.refuse(at, "Java knows no property named %q; see the summary of java.util.regex.Pattern.", name)
	}
	return s
}

// propertySet finds what a property's name means.
func (p *javaParser) propertySet(name string) (set, bool) {
	fold := p.has(flagFold)
	general := func(name string) (set, bool) {
		if s, ok := javaCategory(name, fold); ok {
			return s, true
		}
		if s, ok := javaASCIIClass(name, fold); ok {
			return s, true
		}
		return javaMethod(name, fold)
	}
	if key, value, ok := strings.Cut(name, "="); ok {
		switch strings.ToLower(key) {
		case "sc", "script":
			return javaScript(value)
		case "blk", "block":
			return javaBlock(value)
		case "gc", "general_category":
			return general(value)
		}
		return nil, false
	}
	if block, ok := strings.CutPrefix(name, "In"); ok {
		return javaBlock(block)
	}
	if short, ok := strings.CutPrefix(name, "Is"); ok {
		if s, ok := javaBinary(short, fold); ok {
			return s, true
		}
		if s, ok := general(short); ok {
			return s, true
		}
		return javaScript(short)
	}
	if p.has(flagUnicodeClass) {
		if s, ok := javaPOSIX(name, fold); ok {
			return s, true
		}
	}
	return general(name)
}
