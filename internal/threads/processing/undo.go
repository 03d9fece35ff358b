package processing

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"outrigger/internal/threads"
)

// undoFeed returns the issues that were written, the last one first.
type undoFeed struct {
	*migrationFeed
	end    threads.Place               // the issue before it is the next one
	before map[int64]threads.ParentMap // by place in the chunk: what the issues had, of those that were written
}

// undo begins where the last issue may have been written.
func (f *migrationFeed) undo(ctx context.Context) (feed, error) {
	u := &undoFeed{migrationFeed: f, end: threads.Place{Chunk: f.m.ChunksDone, Issue: f.m.IssuesInChunk}}
	var last threads.Place
	var written bool
	err := f.p.retry(ctx, "find the last issue", func(ctx context.Context) (err error) {
		last, written, err = f.p.Store.LastBefore(ctx, f.m.Stage)
		return err
	})
	if err != nil {
		return nil, err
	}
	ahead := written && !f.m.Done(last)
	if ahead {
		u.end = threads.Place{Chunk: last.Chunk, Issue: last.Issue + 1}
	}
	if ahead || f.m.Retrying {
		return u, f.linger(ctx)
	}
	return u, nil
}

// linger has nothing sent until what was under way when processing stopped has
// been carried out by the target, or never is.
func (f *migrationFeed) linger(ctx context.Context) error {
	if f.p.Linger == 0 || !f.m.Pace.WaitUntil.IsZero() {
		return nil
	}
	after := f.m.Next()
	after.Pace.WaitUntil, after.Pace.Declared = f.p.Clock().Add(f.p.Linger), true
	after.Message = "Undo begins when all earlier requests have ended."
	return f.p.retry(ctx, "store a wait", func(ctx context.Context) error { return f.commit(ctx, after, threads.Written{}) })
}

func (f *undoFeed) next(ctx context.Context) (*task, error) {
	for f.end.Issue == 0 || f.chunk == nil {
		if f.end.Issue == 0 && f.end.Chunk == 0 {
			return nil, nil
		}
		number := f.end.Chunk
		if f.end.Issue == 0 {
			number--
		}
		var err error
		if f.chunk, f.before, err = f.p.chunkBefore(ctx, f.m.Stage, number); err != nil {
			return nil, err
		}
		if f.end.Issue == 0 {
			f.end = threads.Place{Chunk: number, Issue: int64(len(f.chunk.Issues))}
		}
	}
	f.end.Issue--
	i := f.chunk.Issues[f.end.Issue]
	t := &task{issue: i.CloudIssueID, chunk: f.chunk, place: int(f.end.Issue)}
	if before, written := f.before[f.end.Issue]; written {
		u := threads.Undo{IssueMap: threads.IssueMap{CloudIssueID: t.issue, Parents: i.Wanted()}, Before: before}
		t.ask = func(ctx context.Context) (threads.ParentMap, error) {
			return f.p.Target.Write(ctx, t.issue, func(now threads.ParentMap) (undone threads.ParentMap, _ error) {
				undone, t.kept = u.Of(now)
				return undone, nil
			})
		}
	}
	return t, nil
}

// keep counts issues as not done and stores their maps. What the target forbids or
// does not show stays to be undone another time.
func (f *undoFeed) keep(ctx context.Context, tasks []*task, ahead []threads.IssueMap, retried int64, pace threads.Pace) error {
	after, w := f.after(retried, pace), threads.Written{}
	for _, t := range tasks {
		if after.Done(t.at()) {
			after.Retreat(t.chunk, t.place)
		}
		if t.ask == nil {
			continue
		}
		left := threads.UndoLeft{
			At: t.at(), CloudIssueID: t.issue, IssueID: t.chunk.Issues[t.place].IssueID, Reason: threads.ChangedByOthers, Answer: t.answer,
		}
		if t.failed {
			left.Reason = reasonOf(t.refused)
		}
		changed := left.Reason == threads.ChangedByOthers && (t.kept || t.failed)
		if t.failed || t.kept {
			w.Left = append(w.Left, left)
		}
		if t.failed && !changed {
			continue // it stays to be undone another time
		}
		w.Forget = append(w.Forget, t.at())
		after.Undone++
		if changed {
			after.Kept++
		}
		if !t.failed {
			w.Put = append(w.Put, threads.IssueMap{CloudIssueID: t.issue, Parents: t.parents})
		}
	}
	w.Put = append(w.Put, ahead...)
	return f.commit(ctx, after, w)
}

// undone is how the migration stands when everything is undone that could be.
func (p *Processor) undone(ctx context.Context, m *threads.Migration) (after threads.Migration, err error) {
	var left []threads.UndoLeft
	if p.Target != nil {
		err = p.retry(ctx, "look for what is left", func(ctx context.Context) (err error) {
			left, err = p.Store.UndoLeft(ctx, 0)
			return err
		})
		if err != nil {
			return after, err
		}
	}
	if why := undoFailure(left); why != "" {
		after = m.Next()
		after.Phase, after.Pace = threads.PhaseFailed, threads.Pace{}
		after.Message = fmt.Sprintf("%s undone. %s%sContinue tries these again; reset leaves them as they are.", was(m.Undone), why,
			keptSentence(m.Kept))
		return after, nil
	}
	after = threads.Migration{Phase: threads.PhaseEmpty, Epoch: m.Epoch, Undone: m.Undone, Kept: m.Kept,
		Message: "The migration was undone: " + threads.Counted(m.Undone, "issue") + " as before."}
	switch {
	case m.Undone == 0:
		after.Message = "The migration was undone: it had written nothing."
	case m.Kept > 0:
		after.Message += " " + strings.TrimSpace(keptSentence(m.Kept))
	}
	return after, nil
}

func was(issues int64) string {
	if issues == 1 {
		return "1 issue was"
	}
	return threads.Counted(issues, "issue") + " were"
}

// keptSentence says what others changed; "" where they changed nothing.
func keptSentence(kept int64) string {
	if kept == 0 {
		return ""
	}
	return fmt.Sprintf("In %s, threads that others changed since were left as they are. ", threads.Counted(kept, "issue"))
}

// undoFailure says which issues are left to be undone, and why; "" where none are.
func undoFailure(left []threads.UndoLeft) string {
	var text strings.Builder
	malformed := func(l threads.UndoLeft) bool {
		return l.Answer.Status == http.StatusBadRequest || l.Answer.Status == http.StatusRequestEntityTooLarge
	}
	for _, c := range []struct {
		of     func(threads.UndoLeft) bool
		what   string
		advice string
	}{
		{func(l threads.UndoLeft) bool { return l.Reason == threads.TargetForbidden && !malformed(l) },
			"The target forbids writing to %s%s. ", "Give the account the permission to edit issues. "},
		{func(l threads.UndoLeft) bool { return l.Reason == threads.TargetForbidden && malformed(l) },
			"The target did not take what %s had before%s. ", ""},
		{func(l threads.UndoLeft) bool { return l.Reason == threads.TargetNotFound },
			"The target does not show %s%s, which may come back. ", ""},
	} {
		n, last := int64(0), threads.Answer{}
		for _, l := range left {
			if c.of(l) {
				n, last = n+1, l.Answer
			}
		}
		if n == 0 {
			continue
		}
		said := ""
		if words := last.String(); words != "" {
			said = " (the last answer: " + strings.TrimSuffix(words, ".") + ")"
		}
		fmt.Fprintf(&text, c.what, threads.Counted(n, "issue"), said)
		text.WriteString(c.advice)
	}
	return text.String()
}
