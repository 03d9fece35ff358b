package staging

import "slices"

// graph is who answers whom within one issue.
type graph struct {
	records []joinedRow // joined, by comment
	parent  []int       // the place of each one's parent in records, or none
	cycle   []bool      // it is part of a cycle of two or more
	seen    []uint8
}

const none = -1

// reset begins with the records of an issue.
func (g *graph) reset(records []joinedRow) {
	g.records = records
	g.parent, g.cycle, g.seen = g.parent[:0], g.cycle[:0], g.seen[:0]
	for _, r := range records {
		at := none
		if r.flags&parentReplies != 0 && r.flags&parentAway == 0 {
			at = g.find(r.parent)
		}
		g.parent = append(g.parent, at)
		g.cycle = append(g.cycle, false)
		g.seen = append(g.seen, 0)
	}
}

// find is the place of a comment's record.
func (g *graph) find(comment int64) int {
	i, _ := slices.BinarySearchFunc(g.records, comment, func(r joinedRow, c int64) int {
		switch {
		case r.comment < c:
			return -1
		case r.comment > c:
			return 1
		}
		return 0
	})
	return i
}

// markCycles marks the cycles that are within the issue.
func (g *graph) markCycles() {
	const onPath, done = 1, 2
	for start := range g.records {
		i := start
		for i != none && g.seen[i] == 0 {
			g.seen[i] = onPath
			i = g.parent[i]
		}
		if i != none && g.seen[i] == onPath && g.parent[i] != i {
			g.markPath(i)
		}
		for i = start; i != none && g.seen[i] == onPath; i = g.parent[i] {
			g.seen[i] = done
		}
	}
}

// markFrom marks the way of a cycle that comes in at a comment from another
// issue, up to the record that leads out again.
func (g *graph) markFrom(comment int64) { g.markPath(g.find(comment)) }

func (g *graph) markPath(i int) {
	for i != none && !g.cycle[i] {
		g.cycle[i] = true
		i = g.parent[i]
	}
}

// exits gives, for every record, the place of the record by which its parents
// lead to another issue, or none.
func (g *graph) exits() []int {
	const unknown = -2
	out := slices.Repeat([]int{unknown}, len(g.records))
	for start := range g.records {
		i := start
		for i != none && out[i] == unknown {
			out[i] = none // where the way comes back to itself, it leads nowhere
			if g.records[i].flags&parentAway != 0 {
				out[i] = i
				break
			}
			i = g.parent[i]
		}
		if i == none {
			continue
		}
		exit := out[i]
		for i = start; i != none && out[i] != exit; i = g.parent[i] {
			out[i] = exit
		}
	}
	return out
}

// crossCycles finds the cycles that go through several issues. They are none of
// the usual damage, and exact all the same.
//
// A record whose parent is in another issue is a crossing. From its parent, the
// way leads within that issue to one other crossing, or to none: crossings and
// where they lead are a graph of their own, which is small. In it, a step that
// is doubled n times ends on a cycle, if it does not end, and on every crossing
// of the cycle, since doubling maps a cycle onto itself.
func (s *stage) crossCycles() error {
	s.entries = s.smallSorter(entryColumns)
	if s.crossing.length == 0 {
		return s.entries.finish()
	}
	steps, err := s.leads()
	if err != nil {
		return err
	}
	for reach := int64(1); reach < s.crossing.length && steps.length > 0; reach *= 2 {
		if steps, err = s.double(steps); err != nil {
			return err
		}
	}
	return s.enter(steps)
}

// leads returns for every crossing the next one: comment, comment.
func (s *stage) leads() (*sorter, error) {
	crossing, err := s.crossing.stream()
	if err != nil {
		return nil, err
	}
	out := s.smallSorter(stepColumns)
	var g graph
	err = s.eachIssue(func(issue int64, records []joinedRow) error {
		at, err := crossing.to(issue)
		if err != nil || !at {
			return err
		}
		g.reset(records)
		exits := g.exits()
		for !crossing.done {
			c := crossingOf(crossing.now)
			if c.issue != issue {
				break
			}
			if exit := exits[g.find(c.parent)]; exit != none {
				if err := out.add(stepRow{from: c.comment, to: records[exit].comment}.row()); err != nil {
					return err
				}
			}
			if err := crossing.next(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, out.finish()
}

// double returns where each step leads when it is taken twice; one that ends is
// left out.
func (s *stage) double(steps *sorter) (*sorter, error) {
	// The same, by where they lead.
	ends, err := s.smallSorter(stepColumns).turned(steps, func(r row) row {
		step := stepOf(r)
		return stepRow{from: step.to, to: step.from}.row()
	})
	if err != nil {
		return nil, err
	}
	second, err := steps.stream()
	if err != nil {
		return nil, err
	}
	out := s.smallSorter(stepColumns)
	err = ends.each(func(r row) error {
		back := stepOf(r)
		goesOn, err := second.to(back.from)
		if err != nil || !goesOn {
			return err
		}
		return out.add(stepRow{from: back.to, to: stepOf(second.now).to}.row())
	})
	if err != nil {
		return nil, err
	}
	return out, out.finish()
}

// enter returns where the cycles that steps end on enter an issue.
func (s *stage) enter(steps *sorter) error {
	onCycle, err := s.smallSorter(commentColumns).turned(steps, func(r row) row { return commentRow{stepOf(r).to}.row() })
	if err != nil {
		return err
	}
	marked, err := onCycle.lastOf()
	if err != nil {
		return err
	}
	byComment, err := s.smallSorter(placeColumns).turned(s.crossing, func(r row) row {
		c := crossingOf(r)
		return placeRow{comment: c.comment, issue: c.issue, parent: c.parent}.row()
	})
	if err != nil {
		return err
	}
	where, err := byComment.stream()
	if err != nil {
		return err
	}
	err = marked.each(func(r row) error {
		if _, err := where.to(commentOf(r).comment); err != nil {
			return err
		}
		at := placeOf(where.now)
		return s.entries.add(entryRow{issue: at.issue, comment: at.parent}.row())
	})
	if err != nil {
		return err
	}
	return s.entries.finish()
}
