package pages

import (
	"context"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/threads"
)

// verifyView is the last comparison of the target with the data.
type verifyView struct {
	*console.Form
	Result  *threads.Verification // nil: there was none
	Percent int
	Badge   console.Badge
}

func (p *Admin) showVerify(r *http.Request) (console.Response, error) {
	return p.verifyPage(r.Context())
}

func (p *Admin) verifyPage(ctx context.Context) (console.Page, error) {
	view, err := p.verified(ctx)
	return console.Page{Template: "threads-verify", Title: "Verify", Up: up, Data: view}, err
}

func (p *Admin) verified(ctx context.Context) (*verifyView, error) {
	v, err := p.Verification(ctx)
	if err != nil || v == nil {
		return &verifyView{Form: console.NewForm()}, err
	}
	view := &verifyView{Form: console.NewForm(), Result: v, Percent: int(v.Done * 100),
		Badge: console.Badge{Tone: console.Good, Text: "correct"}}
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
		view.Badge = console.Badge{Tone: console.Warn, Text: "incomplete"}
	}
	return view, nil
}

func (p *Admin) verify(r *http.Request) (console.Response, error) {
	if _, err := p.Verify(r.Context()); err != nil {
		return refused(r.Context(), p.verifyPage, err)
	}
	return console.Redirect{To: movePath + "/verify"}, nil
}
