package threads

import "slices"

// Retry has the records that the target refused processed again.
func (m *Migration) Retry() {
	m.Groups = slices.Clone(m.Groups)
	for n := range m.Groups {
		if m.Groups[n].Reason.OfTarget() {
			m.Groups[n].Records = 0
		}
	}
	m.RecordsDone -= m.Refused
	m.Permanent -= m.Refused
	m.Refused, m.Retrying, m.RetryAt = 0, true, Place{}
}

// Pending reports whether an error of the target at a place is one that is still
// to be tried again.
func (m *Migration) Pending(r Reason, at Place) bool {
	return m.Retrying && r.OfTarget() && !at.before(m.RetryAt)
}

// Place is an issue of a data set.
type Place struct {
	Chunk int64
	Issue int64 // of the chunk, from 0
}

func (p Place) before(other Place) bool {
	return p.Chunk < other.Chunk || p.Chunk == other.Chunk && p.Issue < other.Issue
}

// Done reports whether the issue at a place is counted as done.
func (m *Migration) Done(at Place) bool {
	return at.before(Place{m.ChunksDone, m.IssuesInChunk})
}

// Percent is how much is done, rounded down; 100 only at the end.
func (m *Migration) Percent() int {
	switch {
	case m.Phase == PhaseCompleted:
		return 100
	case m.Records == 0:
		return 0
	}
	// Records are fewer than 2^56: each takes more than a byte of a file.
	return int(min(m.RecordsDone*100/m.Records, 99))
}

// Next is the migration as a copy that can be changed.
func (m *Migration) Next() Migration {
	next := *m
	next.Groups = slices.Clone(m.Groups)
	return next
}

// Err counts permanent errors; fewer of them where records is negative.
func (m *Migration) Err(r Reason, a Answer, records int64) {
	m.Permanent += records
	if r.OfTarget() {
		m.Refused += records
	}
	n := m.Groups.group(r, a)
	m.Groups[n].Records += records
}

// Advance counts an issue of a chunk as done, with the number of its relations
// that are in the target.
func (m *Migration) Advance(c *Chunk, i IssueEntries, relations int) {
	m.Issues++
	m.RecordsDone += int64(len(i.Entries))
	m.ParentMaps += int64(relations)
	for _, e := range i.Entries {
		if e.Reason != "" {
			m.Err(e.Reason, m.Groups.AnswerTo(i, e.Reason), 1)
		}
	}
	if m.IssuesInChunk++; m.IssuesInChunk == int64(len(c.Issues)) {
		m.ChunksDone, m.IssuesInChunk = m.ChunksDone+1, 0
	}
}

// Retreat counts an issue of a chunk, the last one that is done, as not done.
func (m *Migration) Retreat(c *Chunk, place int) {
	m.ChunksDone, m.IssuesInChunk = c.Number, int64(place)
	m.Issues--
	i := c.Issues[place]
	for _, e := range i.Entries {
		switch {
		case m.Pending(e.Reason, Place{c.Number, int64(place)}):
			continue // it was not counted
		case e.Reason != "":
			m.Err(e.Reason, m.Groups.AnswerTo(i, e.Reason), -1)
		default:
			m.ParentMaps--
		}
		m.RecordsDone--
	}
}

// Undo begins to take back what was written.
func (m *Migration) Undo() {
	if !m.Undoing {
		m.Undoing, m.Undone, m.Kept = true, 0, 0
	}
}
