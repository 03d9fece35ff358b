package pages

import (
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// issueView is the threads of an issue.
type issueView struct {
	*console.Form
	Asked bool
	ID    int64
	Total int
	Rows  []threads.TreeRow
}

// maxTreeRows is how many comments a page lists: what people read. The REST API
// gives all of them.
const maxTreeRows = 1000

func (p *Admin) showIssue(r *http.Request) (console.Response, error) {
	text := r.URL.Query().Get("id")
	view := issueView{Form: console.NewForm().Set("id", text), Asked: text != ""}
	page := console.Page{Template: "threads-issue", Title: "Threads of an issue", Up: up, Data: view}
	if !view.Asked {
		return page, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return page, fault.InvalidField("id", "Enter the numeric id of the issue, such as 900001, not its key.")
	}
	m, err := p.Parents(r.Context(), id)
	if err != nil {
		return page, err
	}
	t := threads.NewTree(m)
	view.ID, view.Total, view.Rows = id, t.Comments(), t.Rows(maxTreeRows)
	page.Data = view
	return page, nil
}
