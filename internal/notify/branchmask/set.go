package branchmask

import (
	"slices"
	"unicode"
)

// span is the characters lo to hi, both included.
type span struct{ lo, hi rune }

// set is a set of characters: sorted spans that neither overlap nor touch.
// Sets are never changed once made; every operation gives a new one.
type set []span

// setOf returns the set of everything in spans, which may come in any order.
func setOf(spans ...span) set {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	var out set
	for _, s := range spans {
		if s.lo > s.hi {
			continue
		}
		if n := len(out); n > 0 && s.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

// setOfRunes returns the set of the single characters in s.
func setOfRunes(s string) set {
	var spans []span
	for _, r := range s {
		spans = append(spans, span{r, r})
	}
	return setOf(spans...)
}

// setOfTables returns the union of the Unicode tables.
func setOfTables(tables ...*unicode.RangeTable) set {
	var spans []span
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			spans = append(spans, span{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			spans = append(spans, span{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return setOf(spans...)
}

// union returns what is in s or in t.
func (s set) union(t set) set {
	out := make(set, 0, len(s)+len(t))
	for len(s)+len(t) > 0 {
		from := &s
		if len(s) == 0 || len(t) > 0 && t[0].lo < s[0].lo {
			from = &t
		}
		next := (*from)[0]
		*from = (*from)[1:]
		if n := len(out); n > 0 && next.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, next.hi)
			continue
		}
		out = append(out, next)
	}
	return out
}

// intersect returns what is in both s and t.
func (s set) intersect(t set) set {
	var out set
	for i, j := 0, 0; i < len(s) && j < len(t); {
		lo, hi := max(s[i].lo, t[j].lo), min(s[i].hi, t[j].hi)
		if lo <= hi {
			out = append(out, span{lo, hi})
		}
		if s[i].hi < t[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// complement returns what is not in s, of the characters 0 to last.
func (s set) complement(last rune) set {
	var out set
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, span{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= last {
		out = append(out, span{next, last})
	}
	return out
}

// minus returns what is in s and not in t.
func (s set) minus(t set) set {
	return s.intersect(t.complement(unicode.MaxRune))
}

// contains reports whether r is in s.
func (s set) contains(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(p span, r rune) int {
		switch {
		case p.hi < r:
			return -1
		case p.lo > r:
			return 1
		}
		return 0
	})
	return found
}

// lookup is a set made ready for the matcher: the characters that branch
// names consist of are one bit each.
type lookup struct {
	low  [4]uint64
	rest set
}

func (s set) lookup() *lookup {
	t := &lookup{rest: s}
	for _, p := range s {
		for r := p.lo; r <= min(p.hi, 255); r++ {
			t.low[r>>6] |= 1 << (r & 63)
		}
	}
	return t
}

func (t *lookup) contains(r rune) bool {
	if r < 256 {
		return t.low[r>>6]>>(r&63)&1 == 1
	}
	return t.rest.contains(r)
}
