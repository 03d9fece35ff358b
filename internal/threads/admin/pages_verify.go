package admin

import (
	"context"
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// verifyView is the last comparison of the target with the data.
type verifyView struct {
	*console.Form
	Result  *Verification // nil: there was none
	Percent int
	Badge   console.Badge
}

func (p *Pages) showVerify(r *http.Request) (console.Response, error) {
	return p.verifyPage(r.Context())
}

func (p *Pages) verifyPage(ctx context.Context) (console.Page, error) {
	view, err := p.verified(ctx)
	return console.Page{Template: "threads-verify", Title: "Verify", Up: up, Data: view}, err
}

func (p *Pages) liveVerify(*http.Request) (console.Response, error) {
	return console.Live{
		Template: "threads-verify", Part: "threads-verified", Every: liveEvery,
		Data: func(ctx context.Context) (any, error) { return p.verified(ctx) },
	}, nil
}

func (p *Pages) verified(ctx context.Context) (*verifyView, error) {
	v, err := p.Verification(ctx)
	if err != nil || v == nil {
		return &verifyView{Form: console.NewForm()}, err
	}
	view := &verifyView{Form: console.NewForm(), Result: v, Percent: int(v.Done * 100), Badge: console.Badge{Tone: console.Good, Text: "as it should be"}}
	switch {
	case v.State == threads.JobRunning:
		view.Badge = console.Badge{Tone: console.Busy, Text: "running"}
	case v.State == threads.JobFailed:
		view.Badge = console.Badge{Tone: console.Bad, Text: "failed"}
	case v.Missing+v.Different > 0:
		view.Badge = console.Badge{Tone: console.Warn, Text: "differs"}
	case len(v.Incomplete) > 0:
		view.Badge = console.Badge{Tone: console.Warn, Text: "incomplete data"}
	case v.NotCompared > 0:
		view.Badge = console.Badge{Tone: console.Warn, Text: "not everything"}
	}
	return view, nil
}

func (p *Pages) verify(r *http.Request) (console.Response, error) {
	if _, err := p.Verify(r.Context()); err != nil {
		page, failed := p.verifyPage(r.Context())
		if failed != nil {
			return nil, failed
		}
		return page, err
	}
	return console.Redirect{To: movePath + "/verify"}, nil
}

// issueView is the threads of an issue.
type issueView struct {
	*console.Form
	Asked bool
	ID    int64
	Total int
	Rows  []treeRow
}

// maxTreeRows is how many comments a page lists: what people read. The REST API
// gives all of them.
const maxTreeRows = 1000

func (p *Pages) showIssue(r *http.Request) (console.Response, error) {
	text := r.URL.Query().Get("id")
	view := issueView{Form: console.NewForm().Set("id", text), Asked: text != ""}
	page := console.Page{Template: "threads-issue", Title: "Threads of an issue", Up: up, Data: view}
	if !view.Asked {
		return page, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		var wrong fault.Fields
		wrong.Add("id", "An issue's id is a whole number, such as 900001; it is not the key.")
		return page, wrong.Err()
	}
	m, err := p.Parents(r.Context(), id)
	if err != nil {
		return page, err
	}
	t := newTree(m)
	view.ID, view.Total, view.Rows = id, len(t.ids), t.rows(maxTreeRows)
	page.Data = view
	return page, nil
}
