package pages

import (
	"net/http"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

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
