package staging

import (
	"slices"

	"outrigger/internal/threads"
)

// byComment is the fourth pass: the last record of each comment, with the
// comment's mapping, into records by parent.
func (s *stage) byComment() error {
	records, err := s.records.lastOf()
	if err != nil {
		return err
	}
	mappings, err := s.comments.lastOf()
	if err != nil {
		return err
	}
	same, err := s.same.stream()
	if err != nil {
		return err
	}
	p := s.preview
	s.parents = s.newSorter(parentColumns)
	err = records.each(func(now row) error {
		r := recordOf(now)
		mapped, err := mappings.to(r.comment)
		if err != nil {
			return err
		}
		out := parentRow{parent: r.parent, comment: r.comment, issue: r.issue}
		if mapped {
			out.cloud, out.flags = mappingOf(mappings.now).cloud, commentMapped
			shared, err := same.to(r.comment)
			if err != nil {
				return err
			}
			if shared {
				out.flags |= commentShared
			}
		} else {
			miss(&p.MissingComments, r.comment)
		}
		if r.parent == r.comment {
			p.SelfParents++
		}
		p.Records++
		if err := s.parents.add(out.row()); err != nil {
			return err
		}
		return s.tell(p.Records, stepComments, float64(p.Records)/float64(s.records.length))
	})
	if err != nil {
		return err
	}
	if err := mappings.drain(); err != nil {
		return err
	}
	p.Comments, p.DuplicateRecords = p.Records, records.dropped
	p.CommentMappings = s.comments.length - mappings.dropped
	p.DuplicateMappings = mappings.dropped
	return s.parents.finish()
}

// byParent is the fifth pass: records by parent, with the parent's mapping
// and the issue that its own record names, into records by issue.
func (s *stage) byParent() error {
	mappings, err := s.comments.lastOf()
	if err != nil {
		return err
	}
	records, err := s.records.lastOf()
	if err != nil {
		return err
	}
	p := s.preview
	s.joined = s.newSorter(joinedColumns)
	s.crossing = s.smallSorter(crossingColumns)
	var missing threads.Missing // parents that have no record themselves
	first, last := true, int64(0)
	n := int64(0)
	err = s.parents.each(func(now row) error {
		r := parentOf(now)
		out := joinedRow{issue: r.issue, comment: r.comment, parent: r.parent, cloud: r.cloud, flags: r.flags}
		mapped, err := mappings.to(r.parent)
		if err != nil {
			return err
		}
		replies, err := records.to(r.parent)
		if err != nil {
			return err
		}
		if mapped {
			out.cloudParent = mappingOf(mappings.now).cloud
			out.flags |= parentMapped
		}
		if replies {
			out.flags |= parentReplies
			if away := recordOf(records.now).issue; away != r.issue {
				out.flags |= parentAway
				p.OtherIssue++
				if err := s.crossing.add(crossingRow{issue: away, parent: r.parent, comment: r.comment}.row()); err != nil {
					return err
				}
			}
		} else if first || r.parent != last {
			p.Comments++
			if !mapped {
				miss(&missing, r.parent)
			}
		}
		first, last = false, r.parent
		if err := s.joined.add(out.row()); err != nil {
			return err
		}
		n++
		return s.tell(n, stepParents, float64(n)/float64(p.Records))
	})
	if err != nil {
		return err
	}
	missAll(&p.MissingComments, missing)
	if err := s.crossing.finish(); err != nil {
		return err
	}
	return s.joined.finish()
}

// missAll counts the ids of another pass that have no mapping.
func missAll(m *threads.Missing, more threads.Missing) {
	m.Count += more.Count
	m.First = append(m.First, more.First...)
	slices.Sort(m.First)
	m.First = m.First[:min(len(m.First), threads.MaxListed)]
}

// miss counts an id that has no mapping; ids come in order.
func miss(m *threads.Missing, id int64) {
	m.Count++
	if len(m.First) < threads.MaxListed {
		m.First = append(m.First, id)
	}
}
