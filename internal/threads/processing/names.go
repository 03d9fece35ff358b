package processing

import (
	"context"
	"maps"
	"slices"

	"outrigger/internal/threads"
)

// names are what the issues that are compared are called, as far as the target
// says it. Nil knows none.
type names struct {
	p     *Processor
	namer threads.Namer
	known map[int64]threads.IssueName // of the chunk that was learned last
	quiet bool                        // the target did not answer once, and is asked no more
}

// newNames are none yet; nil where the target knows none.
func (p *Processor) newNames() *names {
	namer, ok := p.Target.(threads.Namer)
	if !ok {
		return nil
	}
	return &names{p: p, namer: namer}
}

// learn asks what the issues of a chunk are called. A comparison does without
// where the target does not say: an error is ctx's.
func (n *names) learn(ctx context.Context, c *threads.Chunk) error {
	if n == nil {
		return nil
	}
	n.known = map[int64]threads.IssueName{}
	if n.quiet {
		return nil
	}
	var issues []int64
	for _, i := range c.Issues {
		if i.CloudIssueID != 0 {
			issues = append(issues, i.CloudIssueID)
		}
	}
	for some := range slices.Chunk(issues, threads.MaxNames) {
		found, err := n.namer.Names(ctx, some)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n.p.beat()
		if err != nil {
			n.p.Log.Warn("the target does not say what its issues are called; the report has no projects of the rest", "error", err)
			n.quiet = true
			return nil
		}
		maps.Copy(n.known, found)
	}
	return nil
}

// of is what an issue is called; the zero value where that is not known.
func (n *names) of(i threads.IssueEntries) threads.IssueName {
	if n == nil {
		return threads.IssueName{}
	}
	return n.known[i.CloudIssueID]
}
