package pages

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

type checkView struct {
	NodeID  string
	To      string
	Problem string
	Steps   []mailqueue.CheckStep
}

// Failed reports whether the last step failed.
func (v checkView) Failed() bool { return v.Steps[len(v.Steps)-1].Error != "" }

// Verdict says what came of the steps.
func (v checkView) Verdict() string {
	switch {
	case v.Failed():
		return "The check failed at this step: " + v.Steps[len(v.Steps)-1].Name + "."
	case v.To != "":
		return "The smarthost has taken the test message."
	}
	return "The smarthost can be used. No message was sent."
}

func (p *Pages) checkPage(v checkView) console.Page {
	v.NodeID = p.Service.NodeID
	return console.Page{
		Template: "mail-check", Title: "Check the smarthost", Data: v,
		Up: []console.Link{{Label: "Mail queues", Path: queuesPath}},
	}
}

func (p *Pages) askCheck(*http.Request) (console.Response, error) {
	return p.checkPage(checkView{}), nil
}

func (p *Pages) check(r *http.Request, form *console.Form) (console.Response, error) {
	to := form.Get("to")
	steps, err := p.Check(r.Context(), "", to)
	v := checkView{To: to, Steps: steps}
	page := p.checkPage(v)
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Conflict) {
		v.Problem = fault.As(err).Message
		if fields := fault.As(err).Fields; len(fields) > 0 {
			v.Problem = fields[0].Message
		}
		page = p.checkPage(v)
		page.Status, err = http.StatusBadRequest, nil
	}
	return page, err
}
