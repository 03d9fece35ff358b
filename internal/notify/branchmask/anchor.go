package branchmask

import (
	"sync"
	"unicode"
)

// holds reports whether the position is such as kind asks for.
func (m *machine) holds(kind anchorKind, pos int32) bool {
	switch kind {
	case atStart:
		return pos == 0
	case atEnd:
		return pos == m.len()
	case atLastLine:
		return pos == m.len() || m.endsLine(pos) && (pos == m.len()-1 || pos == m.len()-2 && m.in[pos] == '\r' && m.in[pos+1] == '\n')
	case atLastUnixLine:
		return pos == m.len() || pos == m.len()-1 && m.in[pos] == '\n'
	case atLineEnd:
		return pos == m.len() || m.endsLine(pos)
	case atUnixLineEnd:
		return pos == m.len() || m.in[pos] == '\n'
	case atLineStart: // never at the very end, unlike elsewhere
		return pos < m.len() && (pos == 0 || javaLineEnd(m.in[pos-1]) && !(m.in[pos-1] == '\r' && m.in[pos] == '\n'))
	case atUnixLineStart:
		return pos < m.len() && (pos == 0 || m.in[pos-1] == '\n')
	}
	edge := m.wordBefore(kind, pos) != m.wordAt(kind, pos)
	return edge == (kind == atWordEdge || kind == atUnicodeWordEdge)
}

func javaLineEnd(u uint16) bool {
	return u == '\n' || u == '\r' || u == 0x85 || u == 0x2028 || u == 0x2029
}

// endsLine reports whether a line terminator begins here.
func (m *machine) endsLine(pos int32) bool {
	u := m.in[pos]
	return javaLineEnd(u) && !(u == '\n' && pos > 0 && m.in[pos-1] == '\r')
}

func (m *machine) wordBefore(kind anchorKind, pos int32) bool {
	if pos == 0 {
		return false
	}
	r, _ := m.charBefore(pos)
	return m.isWord(kind, r) || m.java && m.marksWord(r, pos-1)
}

func (m *machine) wordAt(kind anchorKind, pos int32) bool {
	if pos == m.len() {
		return false
	}
	r, _ := m.charAt(pos)
	return m.isWord(kind, r) || m.java && m.marksWord(r, pos)
}

// isWord says what \b takes for part of a word. Java's \b is not about its
// own \w: without (?U) too, every letter and digit counts.
func (m *machine) isWord(kind anchorKind, r rune) bool {
	switch {
	case !m.java || r < unicode.MaxASCII:
		return asciiWord.contains(r)
	case kind == atUnicodeWordEdge || kind == atNoUnicodeWordEdge:
		return wordTables().word.contains(r)
	}
	return wordTables().letterOrDigit.contains(r)
}

// marksWord reports whether r, a mark at pos, stands on a letter or digit.
func (m *machine) marksWord(r rune, pos int32) bool {
	if r < 0x300 || !wordTables().mark.contains(r) {
		return false
	}
	for ; pos >= 0; pos-- {
		m.steps--
		r, _ := m.charAt(pos)
		if wordTables().letterOrDigit.contains(r) {
			return true
		}
		if !wordTables().mark.contains(r) {
			return false
		}
	}
	return false
}

type words struct{ letterOrDigit, word, mark *lookup }

// wordTables are what Java's \b looks at, built when a mask first does.
var wordTables = sync.OnceValue(func() words {
	return words{
		letterOrDigit: table13(unicode.L, unicode.Nd).lookup(),
		word:          unicodeWord().lookup(),
		mark:          nonSpacingMarks().lookup(),
	}
})
