package branchmask

// jsCompiler turns the tree into instructions that take the steps of
// ECMAScript's pattern semantics in their order: the captures of a repeated
// part are cleared before each iteration, an empty iteration beyond the
// minimum does not count, a reference to what captured nothing matches
// nothing, and look-behind runs from right to left.
type jsCompiler struct {
	builder
	back bool // inside look-behind
}

func compileJS(n node, groups int) *program {
	var c jsCompiler
	c.node(n)
	c.emit(inst{op: opAccept})
	return &program{code: c.code, captures: groups, regs: int(c.regs)}
}

func (c *jsCompiler) node(n node) {
	switch n := n.(type) {
	case char:
		c.emit(inst{op: opRun, set: c.lookup(n.set), min: 1, max: 1, back: c.back})
	case sequence:
		for i := range n {
			if c.back {
				i = len(n) - 1 - i
			}
			c.node(n[i])
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
	case backref:
		c.emit(inst{op: opReference, n: int32(n.index), back: c.back})
	}
}

func (c *jsCompiler) look(l look) {
	outer := c.back
	c.back = l.behind
	saved := c.reg(2)
	c.emit(inst{op: opEnter, b: saved})
	if !l.negate {
		c.node(l.body)
		c.emit(inst{op: opLookEnd, b: saved})
	} else {
		split := c.emit(inst{op: opSplit})
		c.node(l.body)
		c.emit(inst{op: opLookFail, b: saved})
		c.code[split].x = c.here()
	}
	c.back = outer
}

func (c *jsCompiler) repeat(r repeat) {
	if body, ok := r.body.(char); ok {
		c.emit(inst{op: opRun, set: c.lookup(body.set), min: int32(r.min), max: int32(r.max), mode: r.mode, back: c.back})
		return
	}
	count, start := c.reg(1), c.reg(1)
	c.emit(inst{op: opLoop, a: count})
	head := c.emit(inst{op: opIterate, a: count, min: int32(r.min), max: int32(r.max), mode: r.mode})
	c.emit(inst{op: opMark, a: start})
	if first, last := captures(r.body); first <= last {
		c.emit(inst{op: opClear, n: int32(first), m: int32(last)})
	}
	c.node(r.body)
	c.emit(inst{op: opIterated, x: head, a: count, b: start, min: int32(r.min), empty: emptyFailsBeyond})
	c.code[head].x = c.here()
}

// captures returns the first and the last group that n captures; they are
// numbered in the order of their parentheses, without gaps.
func captures(n node) (first, last int) {
	first, last = unlimited, 0
	for _, m := range parts(n) {
		f, l := captures(m)
		first, last = min(first, f), max(last, l)
	}
	if g, ok := n.(group); ok && g.index > 0 {
		first, last = min(first, g.index), max(last, g.index)
	}
	return first, last
}
