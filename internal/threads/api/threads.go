package api

import (
	"bufio"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// threads answers the threads of an issue: the relations as they are stored,
// and as trees.
func (a *Admin) threads(w http.ResponseWriter, r *http.Request) error {
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
	threads.NewTree(m).Write(out)
	_ = out.WriteByte('}')
	_ = out.Flush() // the client may be gone
	return nil
}
