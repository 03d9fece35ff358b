package pages

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

func (p *Pages) confirmDelete(r *http.Request, info *notify.RuleInfo) (console.Response, error) {
	confirm := console.Confirm{
		Title: "Delete the rule " + info.Name + "?", Text: "Its channel gets no more messages from this rule. The audit trail keeps a record " +
			"of the rule.",
		Verb: "Delete the rule", Keep: "Keep the rule", Back: p.listOf(r, &info.Rule),
		Action: p.rulePath(&info.Rule) + "/delete" + listQuery(r.URL.Query()),
	}
	confirm.Losses = lostWith(&info.Backlog)
	if p.Rules.Edition(info.Connection) == notify.Cloud {
		stays, err := p.webhookAfter(r, &info.Rule)
		if err != nil {
			return nil, err
		}
		confirm.Text += stays
	}
	return confirm, nil
}

// lostWith says what waits for a rule and for no other.
func lostWith(b *notify.RuleBacklog) []string {
	switch {
	case b.Alone == 1 && !b.More:
		return []string{"the message that waits for this rule alone"}
	case b.Alone > 0:
		return []string{"the " + atLeast(b.Alone, b.More) + " messages that wait for this rule alone"}
	}
	return nil
}

func (p *Pages) deleteRule(r *http.Request, info *notify.RuleInfo) (console.Response, error) {
	err := p.Rules.Delete(r.Context(), info.ID, 0)
	return console.Redirect{To: p.listOf(r, &info.Rule), Flash: "The rule " + info.Name + " is deleted."}, err
}
