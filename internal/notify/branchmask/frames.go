package branchmask

// frame is what is to be done when matching fails and goes back.
type frame struct {
	kind frameKind
	pc   int32
	pos  int32
	aux  int32
}

type frameKind uint8

const (
	retry     frameKind = iota // go on at pc and pos
	giveBack                   // opRun at pc: one character less, not below aux
	takeMore                   // opRun at pc: one more, of aux at most
	earlier                    // opLookBehind at pc: start at pos, not below aux
	restore                    // register pc was pos
	uncapture                  // slot pc of the captures was pos
	keep                       // when this is cut off, group pc captured pos to aux
)

func (m *machine) push(f frame) { m.frames = append(m.frames, f) }

// set changes a register until matching goes back.
func (m *machine) set(reg, value int32) {
	m.push(frame{kind: restore, pc: reg, pos: m.regs[reg]})
	m.regs[reg] = value
}

// capture changes what a group captured until matching goes back.
func (m *machine) capture(group, start, end int32) {
	s := m.caps[2*group : 2*group+2]
	m.push(frame{kind: uncapture, pc: 2 * group, pos: s[0]})
	m.push(frame{kind: uncapture, pc: 2*group + 1, pos: s[1]})
	s[0], s[1] = start, end
}

// resume goes back to the last thing that may be tried in another way.
func (m *machine) resume() (pc, pos int32) {
	for len(m.frames) > 0 {
		f := m.frames[len(m.frames)-1]
		m.frames = m.frames[:len(m.frames)-1]
		m.steps--
		switch f.kind {
		case retry:
			return f.pc, f.pos
		case giveBack:
			return m.giveBack(f)
		case takeMore:
			if pc, pos := m.takeMore(f); pc != failed {
				return pc, pos
			}
		case earlier:
			if pc, pos := m.lookFrom(&m.code[f.pc], f.pc, f.pos, f.aux); pc != failed {
				return pc, pos
			}
		case restore:
			m.regs[f.pc] = f.pos
		case uncapture:
			m.caps[f.pc] = f.pos
		}
	}
	return failed, 0
}

// cut forgets what lies above height, so that it is not tried again. Java
// forgets how to undo captures along with it. JavaScript does not. Registers
// of the part that is cut off are set again before they are read again.
func (m *machine) cut(height int32) {
	cut := m.frames[height:]
	m.steps -= len(cut) / 8 // looking at a frame is cheaper than a step
	m.frames = m.frames[:height]
	if !m.java {
		for _, f := range cut {
			if f.kind == uncapture {
				m.frames = append(m.frames, f)
			}
		}
		return
	}
	for n := len(cut) - 1; n >= 0; n-- {
		if f := cut[n]; f.kind == keep {
			m.caps[2*f.pc], m.caps[2*f.pc+1] = f.pos, f.aux
		}
	}
}
