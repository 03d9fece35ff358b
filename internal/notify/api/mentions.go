package api

import (
	"net/http"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const mentionsPath = basePath + "/mentions"

// chatAccountJSON is who a platform's user is in the chats.
type chatAccountJSON struct {
	Connection string    `json:"connection"`
	User       string    `json:"user"`
	Teams      string    `json:"teams,omitempty"`
	Slack      string    `json:"slack,omitempty"`
	UpdatedBy  string    `json:"updatedBy,omitempty"`
	UpdatedAt  time.Time `json:"updatedAt,omitzero"`
}

func chatAccountOf(a notify.ChatAccount) chatAccountJSON { return chatAccountJSON(a) }

func (a *API) registerMentions(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: mentionsPath, Access: rest.Admins, Query: rest.Paged("connection", "search")}, a.listMentions)
	r.Handle(rest.Route{Method: "POST", Path: mentionsPath, Access: rest.Admins}, a.saveMention)
	r.Handle(rest.Route{Method: "DELETE", Path: mentionsPath, Access: rest.Admins, Query: []string{"connection", "user"}}, a.deleteMention)
	r.Handle(rest.Route{Method: "POST", Path: mentionsPath + "/import", Access: rest.Admins, Query: []string{"connection"}}, a.importMentions)
}

func (a *API) listMentions(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	ask := notify.ChatAccountPage{Connection: q.Get("connection"), Search: q.Get("search"), Limit: page.Limit + 1}
	if page.After != "" {
		var ok bool
		if ask.AfterConnection, ask.AfterUser, ok = strings.Cut(page.After, "/"); !ok {
			return rest.ErrAfter()
		}
	}
	found, err := a.Mentions.List(r.Context(), ask)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, found,
		func(x notify.ChatAccount) string { return x.Connection + "/" + x.User }, chatAccountOf))
}

func (a *API) saveMention(w http.ResponseWriter, r *http.Request) error {
	var (
		in    chatAccountJSON
		wrong fault.Fields
	)
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	saved, created, err := a.Mentions.Save(r.Context(), notify.ChatAccount{Connection: in.Connection, User: in.User, Teams: in.Teams, Slack: in.Slack}, wrong)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return rest.WriteJSON(w, r, status, chatAccountOf(saved))
}

func (a *API) deleteMention(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := a.Mentions.Delete(r.Context(), q.Get("connection"), q.Get("user")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) importMentions(w http.ResponseWriter, r *http.Request) error {
	accounts, lines, err := notify.ReadChatAccounts(r.Body)
	if err != nil {
		return err
	}
	created, err := a.Mentions.Import(r.Context(), r.URL.Query().Get("connection"), accounts, lines)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Created  int `json:"created"`
		Replaced int `json:"replaced"`
	}{created, len(accounts) - created})
}
