package branchmask

import "encoding/binary"

// program is a pattern compiled for the backtracking matcher.
type program struct {
	code     []inst
	captures int  // groups that capture
	regs     int  // registers
	java     bool // code points, match as a whole; else UTF-16 units, found anywhere
}

type opcode uint8

const (
	opAccept     opcode = iota // the match ends here
	opRun                      // min to max characters of set
	opJump                     // go on at x
	opSplit                    // go on at the next instruction, if that fails at x
	opAnchor                   // the position is such as anchor says
	opMark                     // register a is the position
	opCapture                  // group n captured from register a to here
	opClear                    // groups n to m have captured nothing
	opReference                // what group n captured, under fold
	opLineBreak                // \R
	opLoop                     // begin a loop: register a counts from 0
	opIterate                  // once more, or on at x
	opIterated                 // an iteration ended; x is its opIterate
	opKeep                     // group n gets its capture back once what follows has matched
	opEnter                    // begin an atomic part: registers b, b+1
	opLeave                    // end it: nothing in it is tried again
	opLookBehind               // begin Java's look-behind: try every start
	opLookEnd                  // a look-around's body matched: go back to its start
	opLookFail                 // a negative look-around's body matched: fail
)

// emptyRule says what to do with an iteration that took no character.
type emptyRule uint8

const (
	emptyLeaves       emptyRule = iota // the loop is over
	emptyLeavesBeyond                  // beyond min, the loop is over
	emptyFailsBeyond                   // beyond min, it does not count as a match
)

// inst is one instruction. What its fields mean depends on op.
type inst struct {
	op       opcode
	mode     mode
	anchor   anchorKind
	fold     foldMode
	back     bool      // right to left: JavaScript's look-behind
	behind   bool      // opLookEnd, opLookFail: Java's look-behind
	negate   bool      // opLookBehind
	pairs    bool      // opLookBehind: surrogate pairs count as one
	keeps    bool      // opLoop, opIterate, opIterated: opKeep follows the loop
	empty    emptyRule // opIterated
	set      *lookup
	x, y     int32 // where to go on
	a, b     int32 // registers
	n, m     int32 // groups
	min, max int32
}

// builder collects instructions.
type builder struct {
	code []inst
	regs int32
	sets map[string]*lookup // by their spans
}

// lookup returns the set for fast access. Equal sets are one: a pattern may repeat
// one of some hundred spans, such as \p{L}, thousands of times.
func (b *builder) lookup(s set) *lookup {
	key := make([]byte, 0, 8*len(s))
	for _, p := range s {
		key = binary.LittleEndian.AppendUint32(key, uint32(p.lo))
		key = binary.LittleEndian.AppendUint32(key, uint32(p.hi))
	}
	if known := b.sets[string(key)]; known != nil {
		return known
	}
	if b.sets == nil {
		b.sets = make(map[string]*lookup)
	}
	b.sets[string(key)] = s.lookup()
	return b.sets[string(key)]
}

func (b *builder) emit(i inst) int32 {
	b.code = append(b.code, i)
	return int32(len(b.code) - 1)
}

// group compiles a group, its body with node.
func (b *builder) group(g group, node func(node)) {
	if g.index == 0 {
		node(g.body)
		return
	}
	start := b.reg(1)
	b.emit(inst{op: opMark, a: start})
	node(g.body)
	b.emit(inst{op: opCapture, n: int32(g.index), a: start})
}

// choice compiles alternatives, each with node.
func (b *builder) choice(c choice, node func(node)) {
	var ends []int32
	for i, n := range c {
		if i == len(c)-1 {
			node(n)
			break
		}
		split := b.emit(inst{op: opSplit})
		node(n)
		ends = append(ends, b.emit(inst{op: opJump}))
		b.code[split].x = b.here()
	}
	for _, end := range ends {
		b.code[end].x = b.here()
	}
}

// here is the next instruction's place.
func (b *builder) here() int32 { return int32(len(b.code)) }

// reg reserves n registers.
func (b *builder) reg(n int32) int32 {
	b.regs += n
	return b.regs - n
}
