package branchmask

// lookBehind begins Java's look-behind: its body is tried from every start
// that could end here, the nearest first. The reach is computed in Java's 32
// bits, where that of a body without limit may overflow.
func (m *machine) lookBehind(i *inst, pc, pos int32) (int32, int32) {
	m.regs[i.b], m.regs[i.b+1] = int32(len(m.frames)), pos
	if i.negate {
		m.push(frame{kind: retry, pc: i.x, pos: pos})
	}
	nearest, farthest := i.min, i.max
	if i.pairs {
		nearest, farthest = m.unitsBefore(pos, i.min), m.unitsBefore(pos, i.max)
	}
	return m.lookFrom(i, pc, pos-nearest, max(pos-farthest, 0))
}

// lookFrom tries the body from start, and then from earlier ones down to
// limit.
func (m *machine) lookFrom(i *inst, pc, start, limit int32) (int32, int32) {
	if start < limit {
		return failed, 0
	}
	if start > limit {
		step := int32(1)
		if i.pairs {
			step = m.unitsBefore(start, 1)
		}
		m.push(frame{kind: earlier, pc: pc, pos: start - step, aux: limit})
	}
	return pc + 1, start
}

// unitsBefore returns how many units the n characters in front of pos have. A
// negative n, which only an overflow gives, counts those behind pos.
func (m *machine) unitsBefore(pos, n int32) int32 {
	at := pos
	for ; n > 0 && at > 0; n-- {
		_, size := m.charBefore(at)
		at -= size
	}
	for ; n < 0 && at < m.len(); n++ {
		_, size := m.charAt(at)
		at += size
	}
	if at > pos {
		return at - pos
	}
	return pos - at
}
