package pages

import (
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
)

// doTry is the button of the rule form that tries the rule on the last events.
const doTry = "try"

// ruleTrial is what the rule of a form would have made of the last events.
type ruleTrial struct {
	Said    string          // how many it would have taken; "": it was not tried yet
	Problem string          // why it cannot be tried
	Wrong   []memberWarning // by field, where it is for several
	// Warnings are what may be a mistake in the rule as it is typed: a form that
	// changes shows them here, since its fields are not drawn again.
	Warnings []memberWarning
	Rows     []triedRow
	Because  string            // why it would have taken none; "": it would have taken some
	About    map[string]string // how what was typed was understood, by member
}

type triedRow struct {
	eventRow
	Took bool
	Why  reason // where it would not have
	Note string
}

func trialOf(t *admin.Trial, types []notify.EventType) ruleTrial {
	view := ruleTrial{Said: "It would have taken " + strconv.Itoa(t.Taken) + " of the last " + strconv.Itoa(len(t.Events)) + " events."}
	switch {
	case len(t.Events) == 0:
		view.Said = "No events have been received yet to try it on."
	case len(t.Events) == 1 && t.Taken == 1:
		view.Said = "It would have taken the only event received."
	case len(t.Events) == 1:
		view.Said = "It would not have taken the only event received."
	}
	view.Because = because(t, types)
	for i := range t.Events {
		e := &t.Events[i]
		view.Rows = append(view.Rows, triedRow{
			eventRow: eventRowOf(e.LoggedEvent), Took: e.Outcome == notify.RuleTook, Why: reasonOf(e.Reason, types, e.Event), Note: e.Note,
		})
	}
	return view
}

// untried says why the rule cannot be tried: in the words of each field, since a
// form that changes does not show them at its fields.
func untried(why *fault.Error, draft *notify.Rule) ruleTrial {
	view := ruleTrial{Warnings: warningsOf(draft)}
	if len(why.Fields) == 0 {
		view.Problem = why.Message
		return view
	}
	for _, f := range why.Fields {
		member, _, _ := strings.Cut(f.Name, ".")
		view.Wrong = append(view.Wrong, memberWarning{notify.MemberLabel(member), f.Message})
	}
	return view
}

// ruleOfQuery returns the rule that a form that changes is of: nil for a new one.
func (p *Pages) ruleOfQuery(r *http.Request) (*notify.RuleInfo, error) {
	id, notGiven := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64)
	if notGiven != nil {
		return nil, nil
	}
	stored, err := p.Rules.Get(r.Context(), id)
	return &stored, err
}

// tryRule tries the rule as it is typed, and shows the form again.
func (p *Pages) tryRule(r *http.Request, form *console.Form, stored *notify.RuleInfo, at rulePlace) (console.Response, error) {
	page, err := p.rulePage(r.Context(), form, stored, at)
	if err != nil {
		return nil, err
	}
	draft, wrong := draftOf(form, stored, at)
	trial, err := p.Trials.Try(r.Context(), draft, wrong)
	if err != nil {
		return page, atQuietFields(err)
	}
	page.Data.(*ruleForm).Trial = trialOf(&trial, draft.EventTypes)
	return page, nil
}

// showTrial answers the trial by itself, for a form that changes. What cannot be
// tried yet says why.
func (p *Pages) showTrial(r *http.Request, form *console.Form) (console.Response, error) {
	stored, err := p.ruleOfQuery(r)
	if err != nil {
		return nil, err
	}
	var at rulePlace
	if stored != nil {
		at = p.placeOf(&stored.Rule)
	} else if at, err = p.placeOfQuery(r); err != nil {
		return nil, err
	}
	draft, wrong := draftOf(form, stored, at)
	trial, err := p.Trials.Try(r.Context(), draft, wrong)
	var view ruleTrial
	switch {
	case fault.Is(err, fault.Invalid):
		view = untried(fault.As(err), &draft)
	case err != nil:
		return nil, err
	default:
		view = trialOf(&trial, draft.EventTypes)
		view.Warnings = warningsOf(&draft)
	}
	view.About = p.understand(r.Context(), &draft)
	return console.Part{Template: "rule-form", Part: "trial", Data: view}, nil
}

// doTryMasks is the button of the rule form that tries its masks.
const doTryMasks = "masks"

// triedMask is a mask that was tried, by its label in the form.
type triedMask struct {
	notify.TriedMask
	Label string
}

// tryMasks shows the form with what its masks make of the names to try.
func (p *Pages) tryMasks(r *http.Request, form *console.Form, stored *notify.RuleInfo, at rulePlace) (console.Response, error) {
	draft, _ := draftOf(form, stored, at)
	page, err := p.rulePage(r.Context(), form, stored, at)
	if err != nil {
		return nil, err
	}
	tried, err := p.Trials.TryMasks(r.Context(), &draft.Filter, namesToTry(form.Raw("names")), nil)
	if err != nil {
		return page, err
	}
	data := page.Data.(*ruleForm)
	for _, mask := range tried {
		data.TriedMasks = append(data.TriedMasks, triedMask{mask, notify.MemberLabel(mask.Member)})
	}
	return page, nil
}

// namesToTry are the lines of a text as they are typed: names may have commas and
// white space.
func namesToTry(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			names = append(names, line)
		}
	}
	return names
}

// memberWarning is what may be a mistake in a member of the rule, by its label in
// the form.
type memberWarning struct{ Label, Message string }

func warningsOf(draft *notify.Rule) (list []memberWarning) {
	for _, w := range draft.Warnings() {
		list = append(list, memberWarning{notify.MemberLabel(w.Name), w.Message})
	}
	return list
}
