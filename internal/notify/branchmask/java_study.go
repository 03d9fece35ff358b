package branchmask

// study is what Java measures of a part of a pattern. It decides which
// look-behinds are refused and how far they reach, overflows of its 32 bits
// included, and which repeated groups are deterministic, that is, are never
// tried in another way once they have matched.
type study struct {
	min, max      int32
	maxValid      bool
	deterministic bool
}

func (s *study) reset() { *s = study{maxValid: true, deterministic: true} }

// measure returns how many characters n can take. It reports false where Java
// cannot tell.
func measure(n node) (extent, bool) {
	var s study
	s.reset()
	s.walk(n, nil)
	return extent{s.min, s.max}, s.maxValid
}

// deterministic reports whether Java takes n to match in one way only.
func deterministic(n node) bool {
	var s study
	s.reset()
	s.walk(n, nil)
	return s.deterministic
}

// walk studies n and then what follows it. The order matters: Java starts
// anew behind a choice and adds what came before afterwards.
func (s *study) walk(n node, next func()) {
	if next == nil {
		next = func() {}
	}
	switch n := n.(type) {
	case char:
		s.min++
		s.max++
	case lineBreak:
		s.min++
		s.max += 2
	case backref:
		s.maxValid = false
	case sequence:
		s.walkSequence(n, next)
		return
	case group:
		s.walk(n.body, next)
		return
	case atomic:
		s.walk(n.body, nil)
	case choice:
		s.walkChoice(n, next)
		return
	case repeat:
		s.walkRepeat(n, next)
		return
	}
	next()
}

func (s *study) walkSequence(seq sequence, next func()) {
	if len(seq) == 0 {
		next()
		return
	}
	s.walk(seq[0], func() { s.walkSequence(seq[1:], next) })
}

func (s *study) walkChoice(c choice, next func()) {
	before := *s
	shortest, longest := int32(unlimited), int32(-1)
	valid := before.maxValid
	for _, n := range c {
		s.reset()
		s.walk(n, nil)
		shortest, longest = min(shortest, s.min), max(longest, s.max)
		valid = valid && s.maxValid
	}
	s.reset()
	next()
	s.min += before.min + shortest
	s.max += before.max + longest
	s.maxValid = s.maxValid && valid
	s.deterministic = false
}

func (s *study) walkRepeat(r repeat, next func()) {
	_, isChar := r.body.(char)
	g, isGroup := r.body.(group)
	switch {
	case r.form == optional && isGroup && r.mode != possessive:
		s.walkChoice(choice{g, sequence{}}, next)
		return
	case r.form == optional:
		before := s.min
		s.walk(r.body, nil)
		s.min, s.deterministic = before, false
	case isChar && r.form == open && r.mode == greedy:
		s.min += int32(r.min)
		if s.maxValid {
			s.max += unlimited // overflows where two of them meet
		}
		s.deterministic = false
	case r.loops:
		s.maxValid, s.deterministic = false, false
		return // Java does not look any further
	default:
		s.walkCounted(r)
	}
	next()
}

func (s *study) walkCounted(r repeat) {
	before := *s
	s.reset()
	s.walk(r.body, nil)
	s.min = s.min*int32(r.min) + before.min
	if s.min < before.min {
		s.min = 0xFFFFFFF
	}
	if before.maxValid && s.maxValid {
		s.max = s.max*int32(r.max) + before.max
		s.maxValid = s.max >= before.max
	} else {
		s.maxValid = false
	}
	if s.deterministic && r.min == r.max {
		s.deterministic = before.deterministic
	} else {
		s.deterministic = false
	}
}
