package api

import (
	"bufio"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

// IssueThreads are the threads of an issue.
type IssueThreads struct {
	IssueID string         `json:"issueId" doc:"The issue's id on the cloud site, in digits."`
	Parents []threadParent `json:"parents" doc:"Which comment answers which."`
	Threads []ThreadsTree  `json:"threads" doc:"A tree for each comment that is answered and answers none."`
}

type threadParent struct {
	CommentID string `json:"commentId" doc:"The comment's id on the cloud site, in digits."`
	ParentID  string `json:"parentCommentId" doc:"The comment that it answers, likewise."`
}

// ThreadsTree is a comment and what answers it.
type ThreadsTree struct {
	CommentID string        `json:"commentId" doc:"The comment's id on the cloud site, in digits."`
	Replies   []ThreadsTree `json:"replies" doc:"A tree is as deep as its thread."`
}

// showing names the issue.
type showing struct {
	ID string `path:"cloudIssueId" pattern:"^[0-9]+$" doc:"The issue's id on the cloud site, a whole number." example:"900001"`
}

func (a *Admin) registerThreads(r *rest.Router) {
	rest.Serve[showing, IssueThreads](r, rest.Route{Method: "GET", Path: threadsPath, Access: rest.SysAdmins}, rest.Words{
		ID: "showThreads", Tag: tag, Summary: "Returns the threads of an issue, as the target has them.", Text: needsSysAdmin,
		Answer: "The relations, and the trees that they make. Each comment is in one tree, once.",
	}, a.threads, rest.Example[showing, IssueThreads]{Name: "small", Out: &IssueThreads{
		IssueID: "900001", Parents: []threadParent{{"11782", "11781"}},
		Threads: []ThreadsTree{{"11781", []ThreadsTree{{"11782", []ThreadsTree{}}}}},
	}})
}

// threads writes what IssueThreads has, whatever its size,
// without recursion.
func (a *Admin) threads(w http.ResponseWriter, r *http.Request, in showing) error {
	id, err := strconv.ParseInt(in.ID, 10, 64)
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
