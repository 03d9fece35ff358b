package api

import (
	"context"
	"encoding/csv"
	"errors"
	"net/http"
	"strconv"

	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

// MigrationError is a permanent error.
type MigrationError struct {
	IssueID         int64          `json:"issueId" doc:"By its id in the self-hosted instance."`
	CommentID       int64          `json:"commentId" doc:"By its id in the self-hosted instance."`
	ParentCommentID int64          `json:"parentCommentId" doc:"By its id in the self-hosted instance."`
	Reason          threads.Reason `json:"reason" doc:"Why it failed."`
	Answer          threads.Answer `json:"answer,omitzero"`
}

type errorList = rest.List[MigrationError]

func (a *Admin) registerErrors(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: MigrationPath + "/errors", Access: rest.SysAdmins}, rest.Words{
		ID: "listMigrationErrors", Tag: tag, Summary: "Lists the permanent errors of what was processed.",
		Text: "Needs `SYS_ADMIN`. By issue and comment.", Answer: "A page of them.",
	}, a.errors, []rest.Example[listing, errorList]{
		{Name: "one", Out: &errorList{
			Items: []MigrationError{{IssueID: 10001, CommentID: 10504, ParentCommentID: 10501, Reason: threads.NoCommentMapping}},
			Next:  "z2E7MTAuMQ",
		}},
		{Name: "refused", Out: &errorList{Items: []MigrationError{
			{IssueID: 10002, CommentID: 10510, ParentCommentID: 10509, Reason: threads.TargetNotFound, Answer: refusedAnswer},
		}}},
	}...)
	rest.Serve[struct{}, string](r, rest.Route{Method: "GET", Path: MigrationPath + "/errors.csv", Access: rest.SysAdmins, Own: true},
		rest.Words{
			ID: "reportMigrationErrors", Tag: tag, Summary: "Returns all permanent errors of what was processed as CSV.",
			Text:   needsSysAdmin,
			Media:  []string{"text/csv"},
			Answer: "A line each, below the header. `answer` is what the target said, its HTTP status first; empty where it was not asked.",
		}, a.errorsCSV, rest.Example[struct{}, string]{Name: "one", Out: new("issueId,commentId,parentCommentId,reason,answer\n" +
			"10001,10504,10501,no_comment_mapping,\n" +
			"10002,10510,10509,target_not_found," + refusedAnswer.String() + "\n")})
}

// listing asks for a page of a list.
type listing struct{ Page rest.Page }

func (a *Admin) errors(ctx context.Context, in listing) (list errorList, err error) {
	var after threads.ErrorPlace
	if in.Page.After != "" {
		if after, err = threads.ParseErrorPlace(in.Page.After); err != nil {
			return list, err
		}
	}
	rows, err := a.Store.Errors(ctx, after, in.Page.Limit+1)
	return rest.NewList(in.Page, rows, err, func(e threads.ErrorRecord) string { return e.At.String() },
		func(e threads.ErrorRecord) MigrationError {
			return MigrationError{e.IssueID, e.CommentID, e.ParentCommentID, e.Reason, e.Answer}
		})
}

// errorsAtOnce is how many errors are read at once: a chunk's worth.
const errorsAtOnce = threads.ChunkSize

// errorsCSV streams every permanent error.
func (a *Admin) errorsCSV(w http.ResponseWriter, r *http.Request, _ struct{}) error {
	list, err := a.Store.Errors(r.Context(), threads.ErrorPlace{}, errorsAtOnce)
	if err != nil {
		return err
	}
	m, err := a.Store.Migration(r.Context())
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="threaded-comments-errors.csv"`)
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	out := csv.NewWriter(w)
	_ = out.Write([]string{"issueId", "commentId", "parentCommentId", "reason", "answer"}) // Flush ends with what went wrong
	if err := a.writeErrors(r.Context(), out, m.Stage, list); err != nil {
		return err // cuts the answer off: a report that only ends would pass for whole
	}
	out.Flush() // the client may be gone
	return nil
}

var errOtherData = errors.New("the data was replaced while its errors were read")

func (a *Admin) writeErrors(ctx context.Context, out *csv.Writer, stage int64, list []threads.ErrorRecord) error {
	id := func(n int64) string { return strconv.FormatInt(n, 10) }
	for {
		for _, e := range list {
			line := []string{id(e.IssueID), id(e.CommentID), id(e.ParentCommentID), string(e.Reason), rest.CSVCell(e.Answer.String())}
			if out.Write(line) != nil {
				return nil // the client is gone
			}
		}
		if len(list) < errorsAtOnce {
			break
		}
		var err error
		if list, err = a.Store.Errors(ctx, list[len(list)-1].At, errorsAtOnce); err != nil {
			return err
		}
	}
	m, err := a.Store.Migration(ctx)
	if err == nil && m.Stage != stage {
		err = errOtherData
	}
	if err != nil {
		return err
	}
	left, err := a.Store.UndoLeft(ctx, 0) // whole issues
	for _, l := range left {
		_ = out.Write([]string{id(l.IssueID), "", "", string(l.Reason), rest.CSVCell(l.Answer.String())}) // Flush ends with what went wrong
	}
	return err
}
