package admin

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// Parents gives the parent map of an issue as the target has it.
func (t *Tool) Parents(ctx context.Context, cloudIssueID int64) (threads.ParentMap, error) {
	if t.Target == nil {
		return t.Store.Map(ctx, cloudIssueID)
	}
	m, err := t.Target.Read(ctx, cloudIssueID)
	var failure *threads.TargetError
	if !errors.As(err, &failure) {
		return m, err
	}
	if failure.Kind == threads.TargetMissing {
		return nil, fault.Wrap(err, fault.NotFound, "The target has no issue %d.", cloudIssueID)
	}
	out := fault.Wrap(err, fault.Unavailable, "The target %s: %s", t.Store.Target(), failure.Message)
	out.RetryAfter = failure.Wait
	return nil, out
}

// threads answers the threads of an issue: the relations as they are stored,
// and as trees.
func (a *API) threads(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.ParseInt(r.PathValue("cloudIssueId"), 10, 64)
	if err != nil || id <= 0 {
		return fault.New(fault.NotFound, "An issue's id is a whole number.")
	}
	m, err := a.Parents(r.Context(), id)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	out := bufio.NewWriter(w)
	b := append(out.AvailableBuffer(), `{"issueId":"`...)
	_, _ = out.Write(append(strconv.AppendInt(b, id, 10), `","parents":[`...))
	for i, relation := range m {
		b := out.AvailableBuffer()
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, `{"commentId":"`...), relation.CommentID, 10), `","parentCommentId":"`...)
		_, _ = out.Write(append(strconv.AppendInt(b, relation.ParentID, 10), `"}`...))
	}
	_, _ = out.WriteString(`],"threads":`)
	newTree(m).write(out)
	_ = out.WriteByte('}')
	_ = out.Flush() // whoever asked may be gone
	return nil
}
