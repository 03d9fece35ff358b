package staging

import (
	"fmt"

	"outrigger/internal/threads"
)

// eachIssue returns the joined records issue by issue.
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

// chunksAtOnce is how many chunks are written in one transaction, of about
// 15 KiB each.
const chunksAtOnce = 32

// chunker cuts issues into chunks and writes them.
type chunker struct {
	stage *stage
	chunk threads.Chunk    // the one that is being filled
	full  []*threads.Chunk // those that wait to be written
}

func (c *chunker) add(i threads.IssueEntries) error {
	c.chunk.Add(i)
	if c.chunk.Records < c.stage.ChunkSize {
		return nil
	}
	return c.next()
}

// next begins another chunk.
func (c *chunker) next() error {
	done := c.chunk
	c.full = append(c.full, &done)
	c.chunk = threads.Chunk{Number: done.Number + 1}
	if len(c.full) < chunksAtOnce {
		return nil
	}
	return c.write()
}

func (c *chunker) write() error {
	if len(c.full) == 0 {
		return nil
	}
	if err := c.stage.Store.WriteChunks(c.stage.ctx, c.full); err != nil {
		return fmt.Errorf("keeping chunks: %w", err)
	}
	c.full = c.full[:0]
	return nil
}

func (c *chunker) finish() error {
	if c.chunk.Records > 0 {
		if err := c.next(); err != nil {
			return err
		}
	}
	return c.write()
}
