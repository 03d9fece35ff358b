package pages

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/answer"
	"outrigger/internal/notify/cardhtml"
	"outrigger/internal/notify/message"
	"outrigger/internal/secret"
)

// What the buttons of the rule form do besides saving.
const (
	doShow = "show" // the cards of the events that are ticked
	doTest = "test" // send a test message
)

// shownCard is the card of an event type beside the rule form.
type shownCard struct {
	Name string
	Card template.HTML
}

// cardsOf draws the cards of event types, by their keys. Unknown keys are left out.
func cardsOf(keys []string, format notify.Format) ([]shownCard, error) {
	var types []notify.EventType
	for _, key := range keys {
		if t, ok := notify.ParseEventType(key); ok {
			types = append(types, t)
		}
	}
	var shown []shownCard
	for _, t := range notify.NewTypeSet(types...).Types() {
		drawn, err := cardhtml.Fragment(message.Preview(t), format)
		if err != nil {
			return nil, err
		}
		shown = append(shown, shownCard{t.Name(), drawn})
	}
	return shown, nil
}

// cardsOfForm draws the cards of the events that are ticked in a form.
func (p *Pages) cardsOfForm(ctx context.Context, form *console.Form, stored *notify.Channel) ([]shownCard, error) {
	format, err := p.formatOfForm(ctx, form, stored)
	if err != nil {
		return nil, err
	}
	return cardsOf(form.All("eventTypes"), format)
}

// formatOfForm is the format in which the channel of a form gets its messages.
func (p *Pages) formatOfForm(ctx context.Context, form *console.Form, stored *notify.Channel) (notify.Format, error) {
	own, chosen := notify.Format(form.Get("format")), form.Get("channel")
	if u, err := url.Parse(form.Get("webhookUrl")); err == nil && u.Host != "" && !secret.IsMask(form.Get("webhookUrl")) {
		return own.ResolveFormat(u.Hostname()), nil
	}
	if keeps(chosen, stored) {
		return own.Else(stored.Format).ResolveFormat(stored.Host), nil
	}
	if chosen != "" { // with its own format
		own = notify.Auto
	}
	return p.formatOnChannel(ctx, chosen, own)
}

// formatOnChannel is the format in which a channel gets messages of a rule or report of
// a format. A channel that who asks may not choose, and none, count as one without a format.
func (p *Pages) formatOnChannel(ctx context.Context, channel string, own notify.Format) (notify.Format, error) {
	if channel == "" {
		return own.ResolveFormat(""), nil
	}
	c, err := p.Channels.Named(ctx, channel)
	switch {
	case fault.Is(err, fault.Invalid):
		return own.ResolveFormat(""), nil
	case err != nil:
		return "", err
	}
	return own.Else(c.Format).ResolveFormat(c.Host), nil
}

// showCards answers the cards by themselves, for a form that changes.
func (p *Pages) showCards(r *http.Request, form *console.Form) (console.Response, error) {
	stored, err := p.ruleOfQuery(r)
	if err != nil {
		return nil, err
	}
	cards, err := p.cardsOfForm(r.Context(), form, channelOfRule(stored))
	return console.Part{Template: "rule-form", Part: "cards", Data: cards}, err
}

// tested says what became of a test message.
type tested struct {
	Tone console.Tone
	Text string
}

func testedOf(a *admin.Tested) *tested {
	if a.Err != "" {
		return &tested{console.Bad, "The test message did not get through: " + a.Err + "."}
	}
	if a.Status < 200 || a.Status > 299 {
		return &tested{console.Bad, "The test message did not get through. " + wordsOf(a)}
	}
	said := fmt.Sprintf("The chat platform answered the test message with %d %s.", a.Status, http.StatusText(a.Status))
	if a.Opened != nil {
		said += " The channel was broken and works again: " + openedText(a.Opened)
	}
	return &tested{console.Good, said}
}

// wordsOf is what the chat platform answered, as far as the reader may know.
func wordsOf(a *admin.Tested) string {
	if a.Withheld {
		return answer.Withheld(a.Status)
	}
	return answer.Sentence(a.Status, a.Answer)
}

// openedText says what becomes of what waited on a channel that was broken.
func openedText(o *notify.Reopened) string {
	text := "nothing waits."
	switch {
	case o.Waiting == 1:
		text = "1 waiting message goes out now."
	case o.Waiting > 1:
		text = console.Count(o.Waiting) + " waiting messages go out now."
	}
	if o.Cancelled > 0 {
		text += " " + console.Count(o.Cancelled) + " were left out; they can be redelivered."
	}
	return text
}

// testRule sends a test message of the rule as it is typed, and shows the form
// again.
func (p *Pages) testRule(r *http.Request, form *console.Form, stored *notify.RuleInfo, at rulePlace) (console.Response, error) {
	draft, wrong := draftOf(form, stored, at)
	page, err := p.rulePage(r.Context(), form, stored, at)
	if err != nil {
		return nil, err
	}
	attempt, err := p.Rules.Test(r.Context(), draft, form.Get("webhookUrl"), wrong)
	if err != nil {
		return page, atQuietFields(err)
	}
	page.Data.(*ruleForm).Tested = testedOf(attempt)
	return page, nil
}

// testStoredRule sends a test message of a rule of the list.
func (p *Pages) testStoredRule(r *http.Request, info *notify.RuleInfo) (console.Response, error) {
	attempt, err := p.Rules.Test(r.Context(), info.Rule, "", nil)
	return testAnswer(p.listOf(r, &info.Rule), attempt, err)
}
