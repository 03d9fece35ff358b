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
	for ; !records.done; err = records.next() {
		if err != nil {
			return err
		}
		r := recordOf(records.now)
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
	s.joined = s.newSorter(joinedColumns)
	s.crossing = s.smallSorter(crossingColumns)
	var missing threads.Missing // parents that have no record themselves
	first, last := true, int64(0)
	for n := int64(1); !parents.done; n++ {
		r := parentOf(parents.now)
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
func (s *stage) eachIssue(do func(issue int64, records []joinedRow) error) error {
	in, err := s.joined.stream()
	if err != nil {
		return err
	}
	var group []joinedRow
	for !in.done {
		issue := joinedOf(in.now).issue
		group = group[:0]
		for !in.done {
			r := joinedOf(in.now)
			if r.issue != issue {
				break
			}
			group = append(group, r)
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
	err = s.eachIssue(func(issue int64, records []joinedRow) error {
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
			i.CloudIssueID = mappingOf(mappings.now).cloud
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
		g.markFrom(entryOf(entries.now).comment)
		if err := entries.next(); err != nil {
			return err
		}
	}
}

// entry is a joined record with the first reason that fits.
func (s *stage) entry(r joinedRow, issueMapped, cycle bool) threads.Entry {
	e := threads.Entry{CommentID: r.comment, ParentCommentID: r.parent}
	if cycle {
		s.preview.Cycles++
	}
	if isSelfInCloud(r) && r.comment != r.parent {
		s.preview.SelfParents++
	}
	switch {
	case !issueMapped:
		e.Reason = threads.NoIssueMapping
	case r.flags&commentMapped == 0:
		e.Reason = threads.NoCommentMapping
	case r.flags&parentMapped == 0:
		e.Reason = threads.NoParentMapping
	case r.comment == r.parent || r.cloud == r.cloudParent:
		e.Reason = threads.SelfParent
	case cycle:
		e.Reason = threads.Cycle
	case r.flags&parentAway != 0:
		e.Reason = threads.OtherIssue
	case r.flags&commentShared != 0:
		e.Reason = threads.SameTarget
	default:
		e.CloudCommentID, e.CloudParentID = r.cloud, r.cloudParent
		return e
	}
	s.preview.Errors[e.Reason]++
	s.preview.TotalErrors++
	return e
}
