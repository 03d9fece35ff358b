package branchmask

import "unicode/utf16"

// machine runs a program on one branch name. It never calls itself: what may
// still be tried lies on a stack of its own, whose size is limited.
type machine struct {
	*program
	in     []uint16
	regs   []int32
	caps   []int32 // start and end of each group; -1 where it captured nothing
	frames []frame
	steps  int
}

func (p *program) machine(branch string) *machine {
	return &machine{
		program: p,
		in:      utf16.Encode([]rune(branch)),
		regs:    make([]int32, p.regs),
		caps:    make([]int32, 2*(p.captures+1)),
		frames:  make([]frame, 0, 64),
		steps:   maxSteps,
	}
}

// match runs the program from every position it may start at.
func (m *machine) match() (bool, error) {
	last := m.len()
	if m.java {
		last = 0
	}
	for start := int32(0); start <= last; start++ {
		for i := range m.caps {
			m.caps[i] = -1
		}
		m.frames = m.frames[:0]
		if ok, err := m.run(start); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// run tries to match from start.
func (m *machine) run(start int32) (bool, error) {
	pc, pos := int32(0), start
	for {
		if m.steps--; m.steps < 0 || len(m.frames) > maxFrames {
			return false, ErrBudget
		}
		i := &m.code[pc]
		if i.op == opAccept && (!m.java || pos == m.len()) {
			return true, nil
		}
		next, to := m.step(i, pc, pos)
		if next == broken {
			return false, errEngine
		}
		if next == failed {
			if next, to = m.resume(); next == failed {
				return false, nil
			}
		}
		pc, pos = next, to
	}
}

// What step and resume give in place of the next instruction.
const (
	failed = -1 // nothing matches here
	broken = -2 // Java throws here
)

func (m *machine) len() int32 { return int32(len(m.in)) }

// step carries out one instruction and gives the next one and its position.
func (m *machine) step(i *inst, pc, pos int32) (int32, int32) {
	switch i.op {
	case opRun:
		return m.runOf(i, pc, pos)
	case opJump:
		return i.x, pos
	case opSplit:
		m.push(frame{kind: retry, pc: i.x, pos: pos})
	case opAnchor:
		if !m.holds(i.anchor, pos) {
			return failed, 0
		}
	case opMark:
		m.set(i.a, pos)
	case opLoop:
		m.set(i.a, 0)
		if i.keeps {
			m.set(i.a+1, i.min)
		}
	case opIterate:
		return m.iterate(i, pc, pos)
	case opIterated:
		return m.iterated(i, pos)
	case opCapture:
		from := m.regs[i.a]
		m.capture(i.n, min(from, pos), max(from, pos))
	case opClear:
		m.steps -= int(i.m-i.n) / 4
		for n := i.n; n <= i.m; n++ {
			m.capture(n, -1, -1)
		}
	case opReference:
		return m.reference(i, pc, pos)
	case opLineBreak:
		return m.lineBreak(pc, pos)
	default:
		return m.stepEnclosed(i, pc, pos)
	}
	return pc + 1, pos
}

// stepEnclosed carries out what concerns parts that are not tried again.
func (m *machine) stepEnclosed(i *inst, pc, pos int32) (int32, int32) {
	switch i.op {
	case opEnter:
		m.regs[i.b], m.regs[i.b+1] = int32(len(m.frames)), pos
	case opLeave:
		m.cut(m.regs[i.b])
	case opKeep:
		m.push(frame{kind: keep, pc: i.n, pos: m.caps[2*i.n], aux: m.caps[2*i.n+1]})
	case opLookBehind:
		return m.lookBehind(i, pc, pos)
	case opLookEnd, opLookFail:
		if i.behind && pos != m.regs[i.b+1] {
			return failed, 0
		}
		m.cut(m.regs[i.b])
		if i.op == opLookFail {
			return failed, 0
		}
		pos = m.regs[i.b+1]
	default: // opAccept in front of the end of the name
		return failed, 0
	}
	return pc + 1, pos
}

// iterate decides whether a loop goes on.
func (m *machine) iterate(i *inst, pc, pos int32) (int32, int32) {
	n, exit := m.regs[i.a], i.x
	if i.keeps && n <= m.regs[i.a+1] {
		exit++ // past the opKeep
	}
	switch {
	case n < i.min:
		return pc + 1, pos
	case n >= i.max:
		return exit, pos
	case i.mode == lazy:
		m.push(frame{kind: retry, pc: pc + 1, pos: pos})
		return exit, pos
	}
	m.push(frame{kind: retry, pc: exit, pos: pos})
	return pc + 1, pos
}

// iterated counts an iteration.
func (m *machine) iterated(i *inst, pos int32) (int32, int32) {
	n := m.regs[i.a]
	if pos == m.regs[i.b] {
		switch {
		case i.empty == emptyLeaves, i.empty == emptyLeavesBeyond && n >= i.min:
			return i.y, pos
		case i.empty == emptyFailsBeyond && n >= i.min:
			return failed, 0
		}
	}
	if i.keeps && n >= i.min {
		m.measureIteration(i, n, pos-m.regs[i.b])
	}
	m.set(i.a, n+1)
	return i.x, pos
}

// measureIteration reproduces how Java goes about greedy iterations of a
// capturing group: it takes those of the same size in one go, and begins anew
// with the first of another size. Leaving the loop after a go has begun, it
// afterwards sets the group again to what it captured (opKeep), but not where
// a go begins. Register a+1 is where this one began, a+2 its size.
func (m *machine) measureIteration(i *inst, n, size int32) {
	if n > m.regs[i.a+1] && size != m.regs[i.a+2] {
		exit := &m.frames[m.regs[i.b+1]-2] // pushed by iterate, below opMark's
		exit.pc++
		m.set(i.a+1, n)
	}
	m.set(i.a+2, size)
}
