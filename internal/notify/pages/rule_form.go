package pages

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// ruleForm is the form of one rule.
type ruleForm struct {
	*console.Form
	Stored      *notify.RuleInfo // nil for a new one
	Level       notify.Level
	At          rulePlace
	Statuses    []console.Option // of builds, in the cloud edition
	Authorize   string           // why an account has to be authorised before the rule is saved
	Connections []console.Option
	Events      []console.Group
	Formats     []console.Option
	Channels    bool // there are some to choose from
	Mask        string
	Channel     notify.ChannelStatus
	Back        string
	Cards       []shownCard // of the events that are ticked
	Tested      *tested     // what became of a test message, nil: none was sent
	Trial       ruleTrial   // on the last events
	TryPath     string      // what tries it
	CardsPath   string      // what draws its cards
	TriedMasks  []triedMask
	Days        []console.Group
	Stale       *staleView // what others changed while it was edited; nil: nothing
	TimeZones   []string
	ChoicesPath string    // what finds projects, repositories and people
	Twin        *ruleTwin // another rule that does the same; nil: none
}

func (p *Pages) form(form *console.Form, stored *notify.RuleInfo, at rulePlace) *ruleForm {
	f := &ruleForm{Form: form, Stored: stored, Level: at.Level, At: at, Back: at.list(), Events: eventGroups(at.edition()),
		Statuses: commitStatuses, Days: dayOptions(), TimeZones: timeZones(), ChoicesPath: choicesPath}
	for _, name := range p.Rules.Connections(notify.SelfHosted).Names() {
		f.Connections = append(f.Connections, console.Option{Value: name, Label: name})
	}
	f.Formats = formatOptions()
	query := at.query()
	if stored != nil {
		query = console.Query("id", idText(stored.ID))
		f.Mask, f.Channel = stored.Channel.Mask, stored.Channel.Status(p.Clock())
	}
	f.TryPath, f.CardsPath = at.base()+"/try"+query, rulesPath+"/cards"+query
	return f
}

func formatOptions() []console.Option {
	return []console.Option{
		{Value: string(notify.Auto), Label: "Chosen by the URL (Slack or Teams)"},
		{Value: string(notify.Teams), Label: "Teams: an Adaptive Card"},
		{Value: string(notify.Slack), Label: "Slack: blocks"},
	}
}

// commitStatuses are the choices of which builds are notified.
var commitStatuses = []console.Option{
	{Value: string(notify.StatusBoth), Label: "Success and failure"},
	{Value: string(notify.StatusSuccess), Label: "Success only"},
	{Value: string(notify.StatusFailure), Label: "Failure only (failed or stopped)"},
}

func (p *Pages) blankRule(r *http.Request, at rulePlace) (console.Response, error) {
	if from := r.URL.Query().Get("from"); from != "" {
		return p.duplicateRule(r, from)
	}
	form := console.NewForm().SetBool("enabled", true).Set("format", string(notify.Auto)).Set("expectedCommitStatus",
		string(notify.StatusBoth))
	return p.rulePage(r.Context(), form, nil, at)
}

func levelOf(query string) notify.Level {
	for _, l := range levels {
		if l.Query == query && l.Level != "" {
			return l.Level
		}
	}
	return notify.Global
}

func (p *Pages) rulePage(ctx context.Context, form *console.Form, stored *notify.RuleInfo, at rulePlace) (console.Page, error) {
	data := p.form(form, stored, at)
	var err error
	if data.Channels, err = p.anyChannels(ctx); err != nil {
		return console.Page{}, err
	}
	if data.Cards, err = p.cardsOfForm(ctx, form, channelOfRule(stored)); err != nil {
		return console.Page{}, err
	}
	page := console.Page{
		Template: "rule-form", Title: "New rule", Data: data,
		Up: at.up(),
	}
	if stored != nil {
		page.Title = stored.Name
		page.Actions = []console.Action{
			{Label: "Its deliveries", Path: deliveriesPath + console.Query("rule", strconv.FormatInt(stored.ID, 10))},
			{Label: "Duplicate", Path: duplicatePath(at, stored.ID)},
		}
	}
	return page, nil
}

func (p *Pages) editRule(r *http.Request, info *notify.RuleInfo) (console.Response, error) {
	at := p.placeOf(&info.Rule)
	if at.Cloud() != underCloud(r) {
		return console.Redirect{To: p.rulePath(&info.Rule)}, nil
	}
	p.Rules.Caution(r.Context(), info)
	page, err := p.rulePage(r.Context(), formOf(info), info, at)
	if err != nil {
		return nil, err
	}
	return p.withTwin(r, page, info)
}

func (p *Pages) ruleOfPath(r *http.Request) (*notify.RuleInfo, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, fault.New(fault.NotFound, "There is no such rule.")
	}
	info, err := p.Rules.Get(r.Context(), id)
	return &info, err
}

// repositoryLines are repositories as the form has them, one a line.
func repositoryLines(refs []notify.RepositoryRef) []string {
	lines := make([]string, len(refs))
	for i, ref := range refs {
		lines[i] = ref.ProjectKey + "/" + ref.RepositoryKey
	}
	return lines
}

func formOf(info *notify.RuleInfo) *console.Form {
	form := console.NewForm().Fill(info.Rule).
		Set("channel", info.Channel.Text(info.Called())).
		Set("eventTypes", notify.TypeKeys(info.EventTypes)...).
		SetLines("repositories", repositoryLines(info.Repositories))
	setQuietHours(form, info.QuietHours)
	for _, w := range info.Warnings() {
		form.Warn(w.Name, w.Message)
	}
	return form
}

func (p *Pages) saveRule(r *http.Request, form *console.Form) (console.Response, error) {
	stored, at, err := p.formPlace(r)
	if err != nil {
		return nil, err
	}
	groups := eventGroups(at.edition())
	tickAll(form, "eventTypes", groups)
	tickAll(form, "quietUrgent", groups)
	draft, wrong := draftOf(form, stored, at)
	for _, w := range draft.Warnings() {
		form.Warn(w.Name, w.Message)
	}
	if preset := form.Get("preset"); preset != "" {
		form.Set("eventTypes", presetKeys(preset, groups)...)
		return p.rulePage(r.Context(), form, stored, at)
	}
	switch form.Get("do") {
	case doShow:
		return p.rulePage(r.Context(), form, stored, at)
	case doTest:
		return p.testRule(r, form, stored, at)
	case doTry:
		return p.tryRule(r, form, stored, at)
	case doTryMasks:
		return p.tryMasks(r, form, stored, at)
	}
	saved, err := p.Rules.Save(r.Context(), draft, form.Get("webhookUrl"), wrong)
	if err != nil {
		page, drawing := p.rulePage(r.Context(), form, stored, at)
		if drawing != nil {
			return nil, drawing
		}
		if errors.Is(err, notify.ErrNoAccount) { // an account is missing: what was typed stays
			page.Data.(*ruleForm).Authorize = fault.As(err).Message
			page.Status = http.StatusForbidden
			return page, nil
		}
		return afterStale(page, form, atQuietFields(err))
	}
	twin, err := p.Rules.Twin(r.Context(), &saved)
	if err != nil {
		return nil, err
	}
	if len(saved.Warnings()) > 0 || twin != nil {
		return console.Redirect{
			To:    p.rulePath(&saved.Rule),
			Flash: "The rule " + saved.Name + " is saved. Check the warnings below.", Tone: console.Warn,
		}, nil
	}
	return console.Redirect{
		To:    p.placeOf(&saved.Rule).list(),
		Flash: "The rule " + draft.Name + " is saved. It applies to the events that are received from now on.",
	}, nil
}

// formPlace returns the rule of the path and where it belongs; without one, where a
// new one is to belong.
func (p *Pages) formPlace(r *http.Request) (*notify.RuleInfo, rulePlace, error) {
	if r.PathValue("id") == "" {
		at, err := p.placeOfQuery(r)
		return nil, at, err
	}
	stored, err := p.ruleOfPath(r)
	if err != nil {
		return nil, rulePlace{}, err
	}
	return stored, p.placeOf(&stored.Rule), nil
}
