package processing

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/threads"
)

// maxRefused is how many issues in a row the target may refuse, with no success
// between, before it is asked whether that is about the issues or about us; and
// how many others are asked then.
const maxRefused = 20

// doubt is about a row of refusals: a project may be gone or closed, or we may
// have lost a permission or ask a wrong site. Until that is clear, the refusals
// are held back and not counted as errors.
type doubt struct {
	row       int // refusals without a success between
	forbidden bool
	last      *threads.TargetError
	probes    []*task // other issues that are asked about; nil while nothing is asked
}

// refused notes a refusal of a task or of a probe.
func (d *driver) refused(t *task, e *threads.TargetError) {
	if t.probe {
		d.doubt.last = e
		return
	}
	if d.elsewhere == nil && e.Kind == threads.TargetMissing {
		return // nothing could say more of it
	}
	t.held = true
	d.doubt.row++
	d.doubt.last = e
	d.doubt.forbidden = d.doubt.forbidden || e.Kind == threads.TargetForbids
}

// succeeded says that the refusals before were about their issues, if that is
// not decided yet.
func (d *driver) succeeded() {
	d.pace.Success()
	d.waiting = false
	if d.refusal != "" {
		return
	}
	d.doubt = doubt{}
	for _, t := range d.window {
		t.held = false
	}
}

// examine decides what a long row of refusals is about: by asking about issues
// elsewhere in the data.
func (d *driver) examine(ctx context.Context) error {
	if d.doubt.row < maxRefused || d.refusal != "" {
		return nil
	}
	if d.doubt.probes == nil {
		if err := d.beginProbes(ctx); err != nil {
			return err
		}
	}
	for _, t := range d.doubt.probes {
		if t.state != done {
			return nil
		}
	}
	d.refusal = d.doubt.verdict()
	return nil
}

// beginProbes chooses the issues to be asked about, and what.
func (d *driver) beginProbes(ctx context.Context) error {
	d.doubt.probes = []*task{}
	if d.elsewhere == nil {
		return nil
	}
	besides := map[int64]bool{}
	for _, t := range d.window {
		besides[t.issue] = t.held
	}
	var issues []int64
	err := d.p.retry(ctx, "choose other issues", func(ctx context.Context) (err error) {
		issues, err = d.p.sample(ctx, *d.elsewhere, besides)
		return err
	})
	what := threads.ProbeRead
	if d.doubt.forbidden {
		what = threads.ProbeWrite
	}
	for _, issue := range issues {
		d.doubt.probes = append(d.doubt.probes, &task{issue: issue, probe: true, ask: func(ctx context.Context) (threads.ParentMap, error) {
			return nil, d.p.Target.Probe(ctx, issue, what)
		}})
	}
	return err
}

// probe asks about the next of the issues elsewhere, one at a time: mostly the
// first one decides.
func (d *driver) probe(ctx context.Context, now time.Time) {
	if d.underWay > 0 {
		return
	}
	for _, t := range d.doubt.probes {
		if t.state == waiting && !now.Before(t.due) {
			d.ask(ctx, t)
			return
		}
	}
}

// verdict says why the target does not want us.
func (b *doubt) verdict() string {
	others := ""
	if n := len(b.probes); n > 0 {
		others = fmt.Sprintf(" and %d others elsewhere in the data", n)
	}
	if b.forbidden {
		return fmt.Sprintf("The target forbade %d issues in a row%s. The last answer: %s Give the account the permission to edit issues, then "+
			"continue.", b.row, others, b.last.Sentence())
	}
	return fmt.Sprintf("The target did not have %d issues in a row%s. The last answer: %s Check the target's URL and that its account may "+
		"see the issues, then continue.", b.row, others, b.last.Sentence())
}
