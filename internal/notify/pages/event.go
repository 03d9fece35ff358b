package pages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// rulesShown is how many rules the page of an event explains at once.
const rulesShown = 100

type eventView struct {
	eventRow
	Types     string
	Verdicts  []verdictRow
	Hidden    string // of rules that who looks does not administer; "": none
	Elsewhere string // of rules that belong elsewhere; "": none
	NoRules   bool   // none that could concern it
	Body      string
	BodyCut   bool
	Pager     console.Pager
}

// verdictRow is a rule and what it made of the event.
type verdictRow struct {
	notify.RuleVerdict
	Place     string
	Badge     console.Badge
	Why       reason // of a rule that did not take it
	Path      string // of the rule; "" where it was deleted
	Delivery  int64  // 0: none that may be shown
	Delivered console.Badge
	Channel   string
	Because   string    // why the message is where it is
	Held      time.Time // until when quiet hours hold it; zero: they do not
}

func (p *Pages) showEvent(r *http.Request) (console.Response, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, identity.Missing(r.Context(), "There is no such event.")
	}
	after, err := notify.ParseVersionCursor(r.URL.Query().Get("after"))
	if err != nil {
		return nil, fault.New(fault.NotFound, "There is no such page of the list.")
	}
	x, err := p.Events.Explain(r.Context(), id, after, rulesShown)
	if err != nil {
		return nil, err
	}
	view := eventView{
		eventRow: eventRowOf(x.Event), Hidden: hiddenText(&x), Elsewhere: elsewhereText(x.Elsewhere),
		NoRules: x.Event.Event != nil && len(x.Rules)+x.Hidden == 0 && after == notify.VersionCursor{},
	}
	if x.Event.Event != nil {
		view.Types = summaryOf(x.Event.Event.Types)
	}
	for _, took := range []bool{true, false} {
		for i := range x.Rules {
			if v := &x.Rules[i]; took == (v.Outcome == notify.RuleTook) {
				view.Verdicts = append(view.Verdicts, p.verdictRow(v, x.Event.Event, x.Deliveries))
			}
		}
	}
	if x.Next != nil {
		view.Pager.Next = view.Path + console.Query("after", x.Next.String())
	}
	if (after != notify.VersionCursor{}) {
		view.Pager.First = view.Path
	}
	if err := p.readBody(r, &view); err != nil {
		return nil, err
	}
	title := view.What
	if x.Event.Event == nil {
		title = "Event " + idText(id)
	}
	return console.Page{
		Template: "event", Title: title, Data: view,
		Up: []console.Link{{Label: "Events", Path: eventsPath}},
	}, nil
}

func (p *Pages) readBody(r *http.Request, view *eventView) error {
	body, err := p.Events.Body(r.Context(), &view.LoggedEvent)
	if err != nil {
		return err
	}
	for view.BodyCut = len(body) < view.BodySize; len(body) > 0 && view.BodyCut && !utf8.Valid(body[max(0, len(body)-utf8.UTFMax):]); {
		body = body[:len(body)-1] // of a character that was cut through
	}
	view.Body = string(body)
	return nil
}

func hiddenText(x *notify.Explanation) string {
	if x.Hidden == 0 {
		return ""
	}
	if x.Hidden == 1 {
		did := "did not take it"
		if x.HiddenTook == 1 {
			did = "took it"
		}
		return "A rule of a wider level, which you do not administer, " + did + "."
	}
	return fmt.Sprintf("%d rules of wider levels, which you do not administer, were asked too; %d of them took it.",
		x.Hidden, x.HiddenTook)
}

func elsewhereText(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 rule of another project or repository is not listed: it never takes events of this one."
	case notify.MaxElsewhere:
		return "10,000 or more rules of other projects and repositories are not listed: they never take events of this one."
	}
	return strconv.Itoa(n) + " rules of other projects and repositories are not listed: they never take events of this one."
}

// summaryOf names the types of an event.
func summaryOf(types []notify.EventType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.Name()
	}
	return strings.Join(names, ", ")
}

func (p *Pages) verdictRow(v *notify.RuleVerdict, e *notify.Event, deliveries []notify.DeliveryInfo) verdictRow {
	row := verdictRow{
		RuleVerdict: *v, Place: placeOf(&v.Rule), Badge: verdictBadge(v), Channel: v.ChannelName, Why: reasonOf(v.Reason, v.EventTypes, e),
	}
	if !v.Deleted {
		row.Path = p.rulePath(&v.Rule)
	}
	if row.Channel == "" {
		row.Channel = v.Channel.Nameless()
	}
	for i := range deliveries {
		d := &deliveries[i]
		if v.Delivery == nil || d.ID != v.Delivery.ID {
			continue
		}
		row.Delivery, row.Delivered, row.Because = d.ID, p.rowOf(*d).Badge, d.Reason
		switch {
		case d.Held(p.Clock()):
			row.Held = d.HeldUntil
		case d.State == notify.Waiting && row.Because == "":
			row.Because = d.Channel.Status(p.Clock()).Reason
		}
	}
	return row
}

// placeOf says whose rule it is.
func placeOf(r *notify.Rule) string {
	switch r.Level() {
	case notify.RepositoryLevel:
		return r.ProjectKey + " / " + r.RepositoryKey
	case notify.ProjectLevel:
		return "project " + r.ProjectKey
	}
	return "global"
}

func verdictBadge(v *notify.RuleVerdict) console.Badge {
	switch v.Outcome {
	case notify.RuleTook:
		return console.Badge{Tone: console.Good, Text: "took it"}
	case notify.RuleUndecided:
		return console.Badge{Tone: console.Busy, Text: "being decided"}
	case notify.RuleWithheld:
		return console.Badge{Tone: console.Warn, Text: "withheld"}
	case notify.RuleDisabled:
		return console.Badge{Tone: console.Quiet, Text: "was disabled"}
	case notify.RuleOtherRefs:
		return console.Badge{Tone: console.Quiet, Text: "took others"}
	}
	return console.Badge{Tone: console.Quiet, Text: "did not take it"}
}
