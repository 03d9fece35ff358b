package pages

import (
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

const mentionsPath = "/notifications/mentions"

func (p *Pages) registerMentions(c *console.Console) {
	admins := console.Needs(identity.Admin)
	c.Handle("GET "+mentionsPath, admins, p.listMentions, "mentions")
	c.Handle("GET "+mentionsPath+"/new", admins, p.mentionForm, "mention-form")
	c.Handle("POST "+mentionsPath+"/new", admins, console.WithForm(p.saveMention), "mention-form")
	c.Handle("GET "+mentionsPath+"/import", admins, p.importForm, "mention-import")
	c.Handle("POST "+mentionsPath+"/import", admins, console.WithForm(p.importMentions), "mention-import")
	c.Handle("GET "+mentionsPath+"/delete", admins, p.confirmDeleteMention)
	c.Handle("POST "+mentionsPath+"/delete", admins, console.WithForm(p.deleteMention))
}

type mentionRow struct {
	notify.ChatAccount
	Edit, Delete string
}

type mentionList struct {
	console.List
	Rows []mentionRow
}

func (p *Pages) listMentions(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	form := console.NewForm().Set("search", strings.TrimSpace(q.Get("search")))
	list := mentionList{List: console.NewList(mentionsPath, form, []console.Filter{
		{Name: "search", Label: "User or account", Search: true},
	})}
	ask := notify.ChatAccountPage{
		Search: form.Get("search"), AfterConnection: q.Get("connection"), AfterUser: q.Get("after"), Limit: pageSize + 1,
	}
	found, err := p.ChatAccounts.List(r.Context(), ask)
	if err != nil {
		return nil, err
	}
	found = console.PageOf(&list.List, found, pageSize, ask.AfterUser == "", func(last *notify.ChatAccount) []string {
		return []string{"connection", last.Connection, "after", last.User}
	})
	for _, a := range found {
		of := console.Query("connection", a.Connection, "user", a.User)
		filled := console.Query("connection", a.Connection, "user", a.User, "teams", a.Teams, "slack", a.Slack)
		list.Rows = append(list.Rows, mentionRow{a, mentionsPath + "/new" + filled, mentionsPath + "/delete" + of})
	}
	return console.Page{
		Template: "mentions", Title: "Mentions", Data: list,
		Actions: []console.Action{{Label: "Add an account", Path: mentionsPath + "/new"}, {Label: "Import", Path: mentionsPath + "/import"}},
	}, nil
}

type mentionView struct {
	*console.Form
	Connections []console.Option
	Back        string
}

func (p *Pages) mentionPage(template, title string, form *console.Form) console.Page {
	view := mentionView{Form: form, Back: mentionsPath}
	for _, name := range p.ChatAccounts.Connections() {
		view.Connections = append(view.Connections, console.Option{Value: name, Label: name})
	}
	return console.Page{Template: template, Title: title, Data: view, Up: []console.Link{{Label: "Mentions", Path: mentionsPath}}}
}

func (p *Pages) mentionForm(r *http.Request) (console.Response, error) {
	q, form := r.URL.Query(), console.NewForm()
	for _, name := range []string{"connection", "user", "teams", "slack"} {
		form.Set(name, q.Get(name))
	}
	return p.mentionPage("mention-form", "Chat account", form), nil
}

func (p *Pages) saveMention(r *http.Request, form *console.Form) (console.Response, error) {
	saved, _, err := p.ChatAccounts.Save(r.Context(), notify.ChatAccount{
		Connection: form.Get("connection"), User: form.Get("user"), Teams: form.Get("teams"), Slack: form.Get("slack"),
	}, nil)
	if err != nil {
		return p.mentionPage("mention-form", "Chat account", form), err
	}
	return console.Redirect{To: mentionsPath, Flash: "The chat account of " + saved.User + " is saved."}, nil
}

func (p *Pages) importForm(*http.Request) (console.Response, error) {
	return p.mentionPage("mention-import", "Import chat accounts", console.NewForm()), nil
}

func (p *Pages) importMentions(r *http.Request, form *console.Form) (console.Response, error) {
	accounts, lines, err := notify.ReadChatAccounts(strings.NewReader(form.Raw("accounts")))
	created := 0
	if err == nil {
		created, err = p.ChatAccounts.Import(r.Context(), form.Get("connection"), accounts, lines)
	}
	if err != nil {
		return p.mentionPage("mention-import", "Import chat accounts", form), err
	}
	return console.Redirect{
		To:    mentionsPath,
		Flash: strconv.Itoa(created) + " accounts are new, " + strconv.Itoa(len(accounts)-created) + " were replaced.",
	}, nil
}

func (p *Pages) confirmDeleteMention(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	if q.Get("user") == "" {
		return nil, fault.New(fault.NotFound, "There is no such chat account.")
	}
	return console.Confirm{
		Title: "Delete the chat account of " + q.Get("user") + "?", Text: "Messages will no longer mention this person.",
		Verb: "Delete the account", Keep: "Keep the account", Back: mentionsPath,
		Form: []console.Hidden{{Name: "connection", Value: q.Get("connection")}, {Name: "user", Value: q.Get("user")}},
	}, nil
}

func (p *Pages) deleteMention(r *http.Request, form *console.Form) (console.Response, error) {
	err := p.ChatAccounts.Delete(r.Context(), form.Get("connection"), form.Raw("user"))
	return console.Redirect{To: mentionsPath, Flash: "The chat account of " + form.Raw("user") + " is deleted."}, err
}
