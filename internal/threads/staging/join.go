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
	s.parents = s.newSorter(5)
	for ; !records.done; err = records.next() {
		if err != nil {
			return err
		}
		comment, issue, parent := records.now[0], records.now[2], records.now[3]
		mapped, err := mappings.to(comment)
		if err != nil {
			return err
		}
		out := row{parent, comment, issue}
		if mapped {
			out[3], out[4] = mappings.now[2], commentMapped
			shared, err := same.to(comment)
			if err != nil {
				return err
			}
			if shared {
				out[4] |= commentShared
			}
		} else {
			miss(&p.MissingComments, comment)
		}
		if parent == comment {
			p.SelfParents++
		}
		p.Records++
		if err := s.parents.add(out); err != nil {
			return err
		}
		if err := s.tell(p.Records, stepComments, float64(p.Records)/float64(s.records.length)); err != nil {
			return err
		}
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
	parents, err := s.parents.stream()
	if err != nil {
		return err
	}
	mappings, err := s.comments.lastOf()
	if err != nil {
		return err
	}
	records, err := s.records.lastOf()
	if err != nil {
		return err
	}
	p := s.preview
	s.joined = s.newSorter(6)
	s.crossing = s.smallSorter(3)
	var missing threads.Missing // parents that have no record themselves
	first, last := true, int64(0)
	for n := int64(1); !parents.done; n++ {
		parent, comment, issue := parents.now[0], parents.now[1], parents.now[2]
		out := row{issue, comment, parent, parents.now[3], 0, parents.now[4]}
		mapped, err := mappings.to(parent)
		if err != nil {
			return err
		}
		replies, err := records.to(parent)
		if err != nil {
			return err
		}
		if mapped {
			out[4], out[5] = mappings.now[2], out[5]|parentMapped
		}
		if replies {
			out[5] |= parentReplies
			if away := records.now[2]; away != issue {
				out[5] |= parentAway
				p.OtherIssue++
				if err := s.crossing.add(row{away, parent, comment}); err != nil {
					return err
				}
			}
		} else if first || parent != last {
			p.Comments++
			if !mapped {
				miss(&missing, parent)
			}
		}
		first, last = false, parent
		if err := s.joined.add(out); err != nil {
			return err
		}
		if err := s.tell(n, stepParents, float64(n)/float64(p.Records)); err != nil {
			return err
		}
		if err := parents.next(); err != nil {
			return err
		}
	}
	m := &p.MissingComments
	m.Count += missing.Count
	m.First = append(m.First, missing.First...)
	slices.Sort(m.First)
	m.First = m.First[:min(len(m.First), threads.MaxListed)]
	if err := s.crossing.finish(); err != nil {
		return err
	}
	return s.joined.finish()
}

// miss counts an id that has no mapping; ids come in order.
func miss(m *threads.Missing, id int64) {
	m.Count++
	if len(m.First) < threads.MaxListed {
		m.First = append(m.First, id)
	}
}

// eachIssue gives the joined records issue by issue.
func (s *stage) eachIssue(do func(issue int64, records []row) error) error {
	in, err := s.joined.stream()
	if err != nil {
		return err
	}
	var group []row
	for !in.done {
		issue := in.now[0]
		group = group[:0]
		for !in.done && in.now[0] == issue {
			group = append(group, in.now)
			if err := in.next(); err != nil {
				return err
			}
		}
		if err := do(issue, group); err != nil {
			return err
		}
	}
	return nil
}

// byIssue is the last pass: the records of each issue, with the issue's mapping
// and the reasons why some are errors, into chunks.
func (s *stage) byIssue() error {
	mappings, err := s.issues.lastOf()
	if err != nil {
		return err
	}
	entries, err := s.entries.stream()
	if err != nil {
		return err
	}
	p, out, done := s.preview, chunker{stage: s}, int64(0)
	var g graph
	err = s.eachIssue(func(issue int64, records []row) error {
		mapped, err := mappings.to(issue)
		if err != nil {
			return err
		}
		g.reset(records)
		g.markCycles()
		g.markCloudCycles()
		if err := markEntries(&g, entries, issue); err != nil {
			return err
		}
		i := threads.IssueEntries{IssueID: issue, Entries: make([]threads.Entry, len(records))}
		if mapped {
			i.CloudIssueID = mappings.now[2]
		} else {
			miss(&p.MissingIssues, issue)
		}
		for n, r := range records {
			i.Entries[n] = s.entry(r, mapped, g.cycle[n])
		}
		p.Issues++
		if err := out.add(i); err != nil {
			return err
		}
		before := done / tellEvery
		done += int64(len(records))
		if done/tellEvery == before {
			return nil
		}
		return s.tell(0, stepIssues, float64(done)/float64(p.Records))
	})
	if err != nil {
		return err
	}
	if err := out.finish(); err != nil {
		return err
	}
	if err := mappings.drain(); err != nil {
		return err
	}
	p.IssueMappings = s.issues.length - mappings.dropped
	p.DuplicateMappings += mappings.dropped
	return nil
}

// markEntries marks the cycles that come into the issue from others.
func markEntries(g *graph, entries *stream, issue int64) error {
	for {
		at, err := entries.to(issue)
		if err != nil || !at {
			return err
		}
		g.markFrom(entries.now[1])
		if err := entries.next(); err != nil {
			return err
		}
	}
}

// entry is a joined record with the first reason that fits.
func (s *stage) entry(r row, issueMapped, cycle bool) threads.Entry {
	e := threads.Entry{CommentID: r[1], ParentCommentID: r[2]}
	flags := r[5]
	if cycle {
		s.preview.Cycles++
	}
	if isSelfInCloud(r) && r[1] != r[2] {
		s.preview.SelfParents++
	}
	switch {
	case !issueMapped:
		e.Reason = threads.NoIssueMapping
	case flags&commentMapped == 0:
		e.Reason = threads.NoCommentMapping
	case flags&parentMapped == 0:
		e.Reason = threads.NoParentMapping
	case r[1] == r[2] || r[3] == r[4]:
		e.Reason = threads.SelfParent
	case cycle:
		e.Reason = threads.Cycle
	case flags&parentAway != 0:
		e.Reason = threads.OtherIssue
	case flags&commentShared != 0:
		e.Reason = threads.SameTarget
	default:
		e.CloudCommentID, e.CloudParentID = r[3], r[4]
		return e
	}
	s.preview.Errors[e.Reason]++
	s.preview.TotalErrors++
	return e
}
