package branchmask

// javaCompiler turns the tree into instructions that take the steps of
// java.util.regex in its order. Where it departs from the textbook: a repeated
// part that is no group, or a group that is possessive or deterministic, is
// never tried in another way once it has matched; and what groups captured in
// a part that is over stays captured, even if the part then counts as failed.
type javaCompiler struct{ builder }

func compileJava(n node, groups int) *program {
	var c javaCompiler
	c.node(n)
	c.emit(inst{op: opAccept})
	return &program{code: c.code, captures: groups, regs: int(c.regs), java: true}
}

func (c *javaCompiler) node(n node) {
	switch n := n.(type) {
	case char:
		c.emit(inst{op: opRun, set: c.lookup(n.set), min: 1, max: 1})
	case sequence:
		for _, m := range n {
			c.node(m)
		}
	case choice:
		c.choice(n, c.node)
	case group:
		c.group(n, c.node)
	case repeat:
		c.repeat(n)
	case anchor:
		c.emit(inst{op: opAnchor, anchor: anchorKind(n)})
	case look:
		c.look(n)
	case atomic:
		c.enclosed(n.body)
	case backref:
		c.emit(inst{op: opReference, n: int32(n.index), fold: n.fold})
	case lineBreak:
		c.emit(inst{op: opLineBreak})
	}
}

// enclosed compiles a part that is not tried again once it has matched.
func (c *javaCompiler) enclosed(n node) {
	height := c.reg(2)
	c.emit(inst{op: opEnter, b: height})
	c.node(n)
	c.emit(inst{op: opLeave, b: height})
}

func (c *javaCompiler) look(l look) {
	saved := c.reg(2)
	var start int32
	if l.behind {
		start = c.emit(inst{op: opLookBehind, b: saved, min: l.within.min, max: l.within.max, pairs: l.pairs, negate: l.negate})
	} else {
		c.emit(inst{op: opEnter, b: saved})
		start = c.here()
		if l.negate {
			c.emit(inst{op: opSplit})
		}
	}
	c.node(l.body)
	end := inst{op: opLookEnd, b: saved, behind: l.behind}
	if l.negate {
		end.op = opLookFail
	}
	c.emit(end)
	if l.negate {
		c.code[start].x = c.here()
	}
}

func (c *javaCompiler) repeat(r repeat) {
	body, isChar := r.body.(char)
	g, isGroup := r.body.(group)
	empty, isSequence := r.body.(sequence)
	switch {
	case isChar:
		c.emit(inst{op: opRun, set: c.lookup(body.set), min: int32(r.min), max: int32(r.max), mode: r.mode})
	case isSequence && len(empty) == 0:
		// nothing, some number of times
	case r.form == optional && r.mode != possessive:
		c.optional(r, isGroup)
	case r.mode == possessive:
		c.possessive(r)
	case r.loops:
		c.loop(r, g)
	default:
		c.iterations(r, g)
	}
}

// optional compiles ? and ??.
func (c *javaCompiler) optional(r repeat, isGroup bool) {
	part := func() {
		if isGroup {
			c.node(r.body)
		} else {
			c.enclosed(r.body)
		}
	}
	split := c.emit(inst{op: opSplit})
	if r.mode == greedy {
		part()
		c.code[split].x = c.here()
		return
	}
	skip := c.emit(inst{op: opJump})
	c.code[split].x = c.here()
	part()
	c.code[skip].x = c.here()
}

// loop compiles a group that may match in several ways.
func (c *javaCompiler) loop(r repeat, g group) {
	count, start := c.reg(1), c.reg(1)
	c.emit(inst{op: opLoop, a: count})
	head := c.emit(inst{op: opIterate, a: count, min: int32(r.min), max: int32(r.max), mode: r.mode})
	c.emit(inst{op: opMark, a: start})
	c.node(g.body)
	if g.index > 0 {
		c.emit(inst{op: opCapture, n: int32(g.index), a: start})
	}
	end := c.emit(inst{op: opIterated, x: head, a: count, b: start})
	c.code[head].x = c.here()
	c.code[end].y = c.here()
}

// possessive compiles iterations of which none is ever given back.
func (c *javaCompiler) possessive(r repeat) {
	count, start, height := c.reg(1), c.reg(1), c.reg(2)
	c.emit(inst{op: opLoop, a: count})
	enter := c.emit(inst{op: opEnter, b: height})
	head := c.emit(inst{op: opIterate, a: count, min: int32(r.min), max: int32(r.max)})
	c.emit(inst{op: opMark, a: start})
	c.node(r.body)
	c.emit(inst{op: opLeave, b: height})
	end := c.emit(inst{op: opIterated, x: enter, a: count, b: start, min: int32(r.min), empty: emptyLeavesBeyond})
	c.code[head].x = c.here()
	c.code[end].y = c.here()
}

// iterations compiles greedy and lazy iterations that are given back one by
// one, but of which none is tried in another way.
func (c *javaCompiler) iterations(r repeat, g group) {
	keeps := g.index > 0 && r.mode == greedy && r.min < r.max
	count, start := c.reg(3), c.reg(3)
	height, least := start+1, int32(r.min)
	c.emit(inst{op: opLoop, a: count, min: least, keeps: keeps})
	head := c.emit(inst{op: opIterate, a: count, min: least, max: int32(r.max), mode: r.mode, keeps: keeps})
	c.emit(inst{op: opMark, a: start})
	c.emit(inst{op: opEnter, b: height})
	if g.body != nil {
		c.node(g.body)
	} else {
		c.node(r.body)
	}
	c.emit(inst{op: opLeave, b: height})
	if g.index > 0 {
		c.emit(inst{op: opCapture, n: int32(g.index), a: start})
	}
	c.emit(inst{op: opIterated, x: head, a: count, b: start, min: least, empty: emptyFailsBeyond, keeps: keeps})
	c.code[head].x = c.here()
	if keeps {
		c.emit(inst{op: opKeep, n: int32(g.index)})
	}
}
