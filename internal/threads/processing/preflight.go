package processing

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"outrigger/internal/threads"
)

// preflight asks the target about some issues spread over the data before
// anything is written: where it gives none of them, something is wrong with the
// target or with the account, and not with the issues.
type preflight struct {
	*migrationFeed
	issues []int64 // not asked about yet
	asked  int

	mu      sync.Mutex
	passed  bool                 // one of them can be read and, as far as the target says, be written
	refusal *threads.TargetError // the last one
}

// preflight reports whether processing may begin; if not, how it ends.
func (p *Processor) preflight(ctx context.Context, f *migrationFeed) (v verdict, message string, err error) {
	if f.m.Checked {
		return finished, "", nil
	}
	flight := &preflight{migrationFeed: f}
	err = p.retry(ctx, "choose issues for the preflight", func(ctx context.Context) (err error) {
		flight.issues, err = p.sample(ctx, data{f.m.Stage, f.m.Chunks}, nil)
		return err
	})
	if err != nil {
		return finished, "", err
	}
	v, message, err = p.drive(ctx, flight, nil, f.m.Pace)
	if v != finished || err != nil {
		return v, message, err
	}
	if !flight.passed && flight.refusal != nil {
		return refused, flight.verdict(), nil
	}
	// It is stored before anything is written, so that what may have been written
	// can be undone.
	after := f.m.Next()
	after.Checked = true
	return finished, "", p.retry(ctx, "store that the preflight has passed", func(ctx context.Context) error {
		return f.commit(ctx, after, threads.Written{})
	})
}

func (f *preflight) next(context.Context) (*task, error) {
	if len(f.issues) == 0 {
		return nil, nil
	}
	issue := f.issues[0]
	f.issues = f.issues[1:]
	f.asked++
	return &task{issue: issue, ask: func(ctx context.Context) (threads.ParentMap, error) { return nil, f.probe(ctx, issue) }}, nil
}

// probe asks about an issue, and takes a refusal for an answer.
func (f *preflight) probe(ctx context.Context, issue int64) error {
	f.mu.Lock()
	passed := f.passed
	f.mu.Unlock()
	if passed {
		return nil // one is enough
	}
	err := f.p.Target.Probe(ctx, issue, threads.ProbeEdit)
	var e *threads.TargetError
	refused := errors.As(err, &e) && (e.Kind == threads.TargetMissing || e.Kind == threads.TargetForbids)
	changed := errors.As(err, &e) && e.Kind == threads.TargetChanged // it can be seen
	if err != nil && !refused && !changed {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.passed = f.passed || !refused
	if refused {
		f.refusal = e
	}
	return nil
}

// keep stores the pace: nothing of the data is done.
func (f *preflight) keep(ctx context.Context, _ []*task, _ []threads.IssueMap, retried int64, pace threads.Pace) error {
	return f.commit(ctx, f.after(retried, pace), threads.Written{})
}

func (f *preflight) verdict() string {
	what, mend := "read", "Check the target's URL and that its account may see the issues"
	if f.refusal.Kind == threads.TargetForbids {
		what, mend = "edited", "Give the account the permission to edit issues"
	}
	return fmt.Sprintf("None of the %d issues that were asked for can be %s. The last answer: %s %s, then continue. Nothing was written.",
		f.asked, what, f.refusal.Sentence(), mend)
}

// sample returns up to maxRefused cloud issues that have something to write,
// spread over the data, besides some. Those that the target is known to
// refuse are not among them.
func (p *Processor) sample(ctx context.Context, from data, besides map[int64]bool) ([]int64, error) {
	places := min(from.chunks, maxRefused)
	var issues []int64
	for n := range places {
		at := n
		if from.chunks > maxRefused {
			at = n * (from.chunks - 1) / (maxRefused - 1)
		}
		list, err := p.Store.Chunks(ctx, from.stage, at, 1)
		if err != nil {
			return nil, err
		}
		// What the places before had too little of comes on top.
		want := ((n+1)*maxRefused+places-1)/places - int64(len(issues))
		for _, c := range list {
			issues = append(issues, spread(c, int(want), besides)...)
		}
	}
	return issues[:min(len(issues), maxRefused)], nil
}

// spread returns up to n issues of a chunk.
func spread(c *threads.Chunk, n int, besides map[int64]bool) []int64 {
	var all []int64
	for _, i := range c.Issues {
		if i.CloudIssueID != 0 && !besides[i.CloudIssueID] && len(i.Relations()) > 0 {
			all = append(all, i.CloudIssueID)
		}
	}
	if len(all) <= n {
		return all
	}
	picked := make([]int64, n)
	for k := range picked {
		picked[k] = all[k*(len(all)-1)/max(n-1, 1)]
	}
	return picked
}
