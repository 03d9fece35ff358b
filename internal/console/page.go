package console

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Response is what a handler answers: a Page, a Part, a Redirect, a Confirm or a
// Live.
type Response interface {
	respond(x *exchange) error
}

// Handler answers one request. An error becomes a status page, whatever answer is beside
// it, but for a Page with a *Form in its Data, which becomes that page, refused.
// identity.From of the request's context is the signed-in user.
type Handler func(r *http.Request) (Response, error)

// Of returns the handler of what find finds by the request.
func Of[T any](find func(r *http.Request) (T, error), handle func(r *http.Request, found T) (Response, error)) Handler {
	return func(r *http.Request) (Response, error) {
		found, err := find(r)
		if err != nil {
			return nil, err
		}
		return handle(r, found)
	}
}

// FormOf is Of for the form that a request posts.
func FormOf[T any](find func(*http.Request) (T, error), handle func(r *http.Request, form *Form, found T) (Response, error)) Handler {
	return WithForm(func(r *http.Request, form *Form) (Response, error) {
		found, err := find(r)
		if err != nil {
			return nil, err
		}
		return handle(r, form, found)
	})
}

// Page is one page in the shell's layout.
type Page struct {
	Template string // named by Handle
	Title    string
	Section  string // the small line above the title; by default that of the page's Nav
	Up       []Link // the pages above it, outermost first
	Tabs     []Tab
	Actions  []Action
	Data     any // the dot of "content": a struct, not a map
	Status   int // 200 by default
}

// Link leads to a page of the console. Path is below the base URL.
type Link struct{ Label, Path string }

// Tab is one of several views of a thing.
type Tab struct {
	Label, Path string
	Current     bool
}

// Action is a button beside the title that leads somewhere, the first one the
// page's main one.
type Action struct{ Label, Path string }

// Redirect answers a write: the browser is sent on (303) and the page it comes
// to shows Flash once.
type Redirect struct {
	To    string // below the base URL
	Flash string // a sentence
	Tone  Tone   // Good by default
}

// OrSay is the redirect, which says what err does, in a tone, where that has one of the codes.
func (d Redirect) OrSay(err error, tone Tone, codes ...fault.Code) (Response, error) {
	if slices.Contains(codes, fault.CodeOf(err)) {
		d.Flash, d.Tone, err = fault.As(err).Message, tone, nil
	}
	return d, err
}

// Part answers a part of a page by itself: the template Part of the page Template,
// which Handle names, rendered with Data. Our modules ask for it.
type Part struct {
	Template, Part string
	Data           any
}

func (p Part) respond(x *exchange) error {
	if x.route != nil && !x.route.declares(p.Template) {
		return fmt.Errorf("%s answers with a part of the page %q, which its Handle does not name", x.route.pattern, p.Template)
	}
	body, err := x.c.pages.render(p.Template, p.Part, p.Data)
	if err != nil {
		return err
	}
	x.write(http.StatusOK, body)
	return nil
}

// Confirm asks before something is lost. Its page works by itself; a link
// with data-confirm opens it as a dialog.
type Confirm struct {
	Title   string   // a question: "Delete the rule Builds?"
	Section string   // as of Page
	Up      []Link   // as of Page; by default the entry of the navigation that it is below
	Text    string   // what happens
	Notes   []string // further paragraphs
	Losses  []string
	Action  string // where the confirmation is posted; by default the same path
	Verb    string // what the button says: "Delete the rule"
	Keep    string // what the way out says: "Keep waiting"
	Back    string // where it leads
	Form    []Hidden
	Tick    Tick // what must be ticked first, where it has a name
	Pick    Pick // what may be ticked, where it has options

	Harmless bool // nothing is lost: the button is not red
}

// Pick are boxes that a confirmation posts the values of.
type Pick struct {
	Label, Name string
	Options     []Option
}

// Tick is a box that a confirmation posts as "true". The browser holds it; the
// handler that it is posted to must do so too.
type Tick struct{ Name, Label string }

// Hidden is a value that a confirmation posts.
type Hidden struct{ Name, Value string }

// view is what the layout gets.
type view struct {
	Page
	User    *identity.Principal
	Nav     []navSection
	Menu    []Link
	Flash   *flash
	Problem *problem
	Version string
	Content any
	Again   []Link // to sign in again, where the user is paused soon
	About   string // the page of the documentation about this one
}

// problem is the summary of a refused form.
type problem struct {
	Message string
	Fields  []fieldProblem
	Focus   bool // no field that the page shows has an error
}

// fieldProblem is what is wrong with a field. ID and Label are "" where the page
// shows no such field.
type fieldProblem struct{ ID, Label, Message string }

// refuser is Data that shows errors at its fields: whatever embeds *Form.
type refuser interface {
	Refuse(*fault.Error)
	Label(field string) string
}

func (p Page) respond(x *exchange) error { return x.page(p, nil) }

// refused reports whether the page can show err itself, as a form does.
func (p Page) refused(err *fault.Error) (refuser, bool) {
	switch err.Code {
	case fault.Invalid, fault.Conflict, fault.TooLarge, fault.RateLimited, fault.Unauthenticated, fault.Unavailable:
		form, ok := p.Data.(refuser)
		return form, ok
	}
	return nil, false
}

// page renders into memory first: what fails is a status page, not half a page.
func (x *exchange) page(p Page, refusal *fault.Error) error {
	v := view{
		Page: p, User: x.principal, Version: x.c.opts.Version, Content: p.Data,
		Flash: x.takeFlash(), Menu: x.c.menu,
	}
	if x.principal != nil && x.principal.Pause.Near {
		v.Again = x.again(x.returnPath())
	}
	if x.c.about != nil && p.Template != statusPage { // which says by itself what is wrong
		v.About = x.c.about(x.path)
	}
	var attention map[string]int
	if x.principal != nil {
		attention = x.attentionOf(x.principal)
	}
	v.Nav, v.Section = x.c.navFor(x.principal, x.path, p.Section, p.Up, attention)
	if v.Status == 0 {
		v.Status = http.StatusOK
	}
	if x.route != nil && !x.route.declares(p.Template) {
		return fmt.Errorf("%s answers with the page %q, which its Handle does not name", x.route.pattern, p.Template)
	}
	if refusal != nil {
		// The labels stand in the template, below the summary that names them.
		if _, err := x.c.pages.render(p.Template, "content", p.Data); err != nil {
			return err
		}
		v.Problem = newProblem(refusal, p.Data.(refuser))
	}
	body, err := x.c.pages.render(p.Template, "layout", v)
	if err != nil {
		return err
	}
	x.write(v.Status, body)
	return nil
}

func (t *templates) render(page, part string, data any) ([]byte, error) {
	made := t.pages[page]
	if made == nil {
		return nil, fmt.Errorf("there is no page %q", page)
	}
	set, err := made()
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	if err := set.ExecuteTemplate(&body, part, data); err != nil {
		return nil, fmt.Errorf("page %q: %w", page, err)
	}
	return body.Bytes(), nil
}

func newProblem(err *fault.Error, form refuser) *problem {
	p := &problem{Message: err.Message, Focus: true}
	switch n := len(err.Fields); n {
	case 0:
	case 1:
		p.Message = "Correct one field:"
	default:
		p.Message = fmt.Sprintf("Correct %d fields:", n)
	}
	for _, f := range err.Fields {
		shown := fieldProblem{Message: f.Message}
		if name := fieldName(f.Name); form.Label(name) != "" {
			shown.ID, shown.Label = fieldID(name), form.Label(name)
			p.Focus = false
		}
		p.Fields = append(p.Fields, shown)
	}
	return p
}

func (d Redirect) respond(x *exchange) error {
	if !strings.HasPrefix(d.To, "/") {
		return fmt.Errorf("a redirect to %q, which is no path of the console", d.To)
	}
	if d.Flash != "" {
		x.setFlash(d.Flash, d.Tone)
	}
	http.Redirect(x.w, x.r, x.c.base+d.To, http.StatusSeeOther)
	return nil
}

func (q Confirm) respond(x *exchange) error {
	if q.Keep == "" {
		return fmt.Errorf("the question %q does not say what its way out means", q.Title)
	}
	if q.Action == "" {
		q.Action = x.path
	}
	if q.Up == nil {
		q.Up = x.c.above(x.path)
	}
	return x.page(Page{Template: confirmPage, Title: q.Title, Section: q.Section, Up: q.Up, Data: q}, nil)
}

func (x *exchange) write(status int, body []byte) {
	x.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body) // the client may be gone
}
