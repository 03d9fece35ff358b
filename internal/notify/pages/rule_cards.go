package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"outrigger/internal/console"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/answer"
	"outrigger/internal/notify/cardhtml"
	"outrigger/internal/notify/message"
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

// cardsOf draws the cards of event types, by their keys, as a format and a
// webhook URL's host have them. Unknown keys are left out.
func cardsOf(keys []string, format notify.Format, host string) ([]shownCard, error) {
	var types []notify.EventType
	for _, key := range keys {
		if t, ok := notify.ParseEventType(key); ok {
			types = append(types, t)
		}
	}
	var shown []shownCard
	for _, t := range notify.NewTypeSet(types...).Types() {
		drawn, err := cardhtml.Fragment(message.Preview(t), format.ResolveFormat(host))
		if err != nil {
			return nil, err
		}
		shown = append(shown, shownCard{t.Name(), drawn})
	}
	return shown, nil
}

// cardsOfForm draws the cards of the events that are ticked in a form.
func cardsOfForm(form *console.Form, stored *notify.RuleInfo) ([]shownCard, error) {
	host := ""
	if stored != nil {
		host = stored.Channel.Host
	}
	if u, err := url.Parse(form.Get("webhookUrl")); err == nil && u.Host != "" {
		host = u.Hostname()
	}
	return cardsOf(form.All("eventTypes"), notify.Format(form.Get("format")), host)
}

// showCards answers the cards by themselves, for a form that changes.
func (p *Pages) showCards(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	cards, err := cardsOf(q["eventTypes"], notify.Format(q.Get("format")), q.Get("host"))
	if err != nil {
		return nil, err
	}
	return console.Part{Template: "rule-form", Part: "cards", Data: cards}, nil
}

// tested says what became of a test message.
type tested struct {
	Tone console.Tone
	Text string
}

func testedOf(a *admin.Tested) tested {
	if a.Err != "" {
		return tested{console.Bad, "The test message did not get through: " + a.Err + "."}
	}
	if a.Status < 200 || a.Status > 299 {
		return tested{console.Bad, "The test message did not get through. " + wordsOf(a)}
	}
	said := fmt.Sprintf("The chat platform answered the test message with %d %s.", a.Status, http.StatusText(a.Status))
	if a.Opened != nil {
		said += " The channel was broken and is open again: " + openedText(a.Opened)
	}
	return tested{console.Good, said}
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
	page, err := p.rulePage(form, stored, at)
	if err != nil {
		return nil, err
	}
	attempt, err := p.Rules.Test(r.Context(), draft, form.Get("webhookUrl"), wrong)
	if err != nil {
		return page, atQuietFields(err)
	}
	data := page.Data.(ruleForm)
	said := testedOf(attempt)
	data.Tested = &said
	page.Data = data
	return page, nil
}

// testStoredRule sends a test message of a rule of the list.
func (p *Pages) testStoredRule(r *http.Request) (console.Response, error) {
	info, err := p.ruleOfPath(r)
	if err != nil {
		return nil, err
	}
	attempt, err := p.Rules.Test(r.Context(), info.Rule, "", nil)
	return testAnswer(p.listOf(r, &info.Rule), attempt, err)
}
