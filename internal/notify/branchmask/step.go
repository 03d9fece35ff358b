package branchmask

import "unicode/utf16"

func isHigh(u uint16) bool { return u&0xfc00 == 0xd800 }
func isLow(u uint16) bool  { return u&0xfc00 == 0xdc00 }

// charAt returns the character at pos and its size: a code point for Java, a
// unit for JavaScript.
func (m *machine) charAt(pos int32) (rune, int32) {
	u := m.in[pos]
	if m.java && isHigh(u) && pos+1 < m.len() && isLow(m.in[pos+1]) {
		return utf16.DecodeRune(rune(u), rune(m.in[pos+1])), 2
	}
	return rune(u), 1
}

// charBefore returns the character that ends at pos and its size.
func (m *machine) charBefore(pos int32) (rune, int32) {
	u := m.in[pos-1]
	if m.java && isLow(u) && pos >= 2 && isHigh(m.in[pos-2]) {
		return utf16.DecodeRune(rune(m.in[pos-2]), rune(u)), 2
	}
	return rune(u), 1
}

// take returns the position behind one character of i's set.
func (m *machine) take(i *inst, pos int32) (int32, bool) {
	if i.back {
		if pos == 0 {
			return 0, false
		}
		r, size := m.charBefore(pos)
		return pos - size, i.set.contains(r)
	}
	if pos >= m.len() {
		return 0, false
	}
	r, size := m.charAt(pos)
	return pos + size, i.set.contains(r)
}

// runOf carries out opRun.
func (m *machine) runOf(i *inst, pc, pos int32) (int32, int32) {
	n := int32(0)
	for ; n < i.min; n++ {
		to, ok := m.take(i, pos)
		if !ok {
			return failed, 0
		}
		pos = to
	}
	least := pos
	if i.mode == lazy {
		if n < i.max {
			m.push(frame{kind: takeMore, pc: pc, pos: pos, aux: i.max - n})
		}
		return pc + 1, pos
	}
	for ; n < i.max; n++ {
		to, ok := m.take(i, pos)
		if !ok {
			break
		}
		pos = to
	}
	m.steps -= int(n) / 4 // a character is cheaper than a step
	if i.mode == greedy && pos != least {
		m.push(frame{kind: giveBack, pc: pc, pos: pos, aux: least})
	}
	return pc + 1, pos
}

// giveBack resumes a greedy run with one character less.
func (m *machine) giveBack(f frame) (int32, int32) {
	size := int32(1)
	if m.code[f.pc].back {
		size = -1
	} else if _, s := m.charBefore(f.pos); f.pos-s >= f.aux {
		size = s
	}
	if f.pos -= size; f.pos != f.aux {
		m.push(f)
	}
	return f.pc + 1, f.pos
}

// takeMore resumes a lazy run with one character more.
func (m *machine) takeMore(f frame) (int32, int32) {
	to, ok := m.take(&m.code[f.pc], f.pos)
	if !ok {
		return failed, 0
	}
	if f.pos = to; f.aux > 1 {
		f.aux--
		m.push(f)
	}
	return f.pc + 1, f.pos
}

// lineBreak carries out \R, which takes \r\n as one if it can.
func (m *machine) lineBreak(pc, pos int32) (int32, int32) {
	if pos >= m.len() || !vertical.contains(rune(m.in[pos])) {
		return failed, 0
	}
	if m.in[pos] == '\r' && pos+1 < m.len() && m.in[pos+1] == '\n' {
		m.push(frame{kind: retry, pc: pc + 1, pos: pos + 1})
		return pc + 1, pos + 2
	}
	return pc + 1, pos + 1
}

// reference carries out a back-reference.
func (m *machine) reference(i *inst, pc, pos int32) (int32, int32) {
	if int(i.n) > m.captures { // Java: there is no such group
		return failed, 0
	}
	start, end := m.caps[2*i.n], m.caps[2*i.n+1]
	if start < 0 {
		if m.java {
			return failed, 0
		}
		return pc + 1, pos
	}
	size := end - start
	m.steps -= int(size)
	from, to := pos, pos+size
	if i.back {
		from, to = pos-size, pos-size
	}
	if from < 0 || from+size > m.len() {
		return failed, 0
	}
	if i.fold != foldNone {
		return m.foldedReference(i, pc, pos, start, size)
	}
	for n := range size {
		if m.in[start+n] != m.in[from+n] {
			return failed, 0
		}
	}
	return pc + 1, to
}

// foldedReference compares without case. Java counts the units of the group
// but goes on by characters, so that it reads too far, and at the end of the
// name throws, where there are surrogate pairs.
func (m *machine) foldedReference(i *inst, pc, pos, start, size int32) (int32, int32) {
	here := pos
	for range size {
		if here >= m.len() || start >= m.len() {
			return broken, 0
		}
		a, n := m.charAt(here)
		b, k := m.charAt(start)
		if !sameFolded(a, b, i.fold) {
			return failed, 0
		}
		here += n
		start += k
	}
	return pc + 1, pos + size
}

func sameFolded(a, b rune, fold foldMode) bool {
	if a == b {
		return true
	}
	if fold == foldASCII {
		return asciiLower(a) == asciiLower(b)
	}
	a, b = javaUpper(a), javaUpper(b)
	return a == b || javaLower(a) == javaLower(b)
}
