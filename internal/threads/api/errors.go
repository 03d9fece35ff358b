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

// errorJSON is a permanent error.
type errorJSON struct {
	IssueID         int64          `json:"issueId"`
	CommentID       int64          `json:"commentId"`
	ParentCommentID int64          `json:"parentCommentId"`
	Reason          threads.Reason `json:"reason"`
	Answer          threads.Answer `json:"answer,omitzero"`
}

func (a *Admin) errors(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	var after threads.ErrorPlace
	if page.After != "" {
		if after, err = threads.ParseErrorPlace(page.After); err != nil {
			return err
		}
	}
	rows, err := a.Store.Errors(r.Context(), after, page.Limit+1)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, rows, func(e threads.ErrorRecord) string { return e.At.String() }, func(e threads.ErrorRecord) errorJSON {
		return errorJSON{e.IssueID, e.CommentID, e.ParentCommentID, e.Reason, e.Answer}
	}))
}

// errorsAtOnce is how many errors are read at once: a chunk's worth.
const errorsAtOnce = threads.ChunkSize

// errorsCSV streams every permanent error.
func (a *Admin) errorsCSV(w http.ResponseWriter, r *http.Request) error {
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
			if out.Write([]string{id(e.IssueID), id(e.CommentID), id(e.ParentCommentID), string(e.Reason), rest.CSVCell(e.Answer.String())}) != nil {
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
