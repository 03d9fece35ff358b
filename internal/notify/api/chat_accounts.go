package api

import (
	"context"
	"net/http"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const mentionsPath = basePath + "/mentions"

type listChatAccounts struct {
	Connection string `query:"connection" doc:"Of this connection only."`
	Search     string `query:"search" doc:"A part of the user's name or of an account, without case."`
	Page       rest.Page
}

type saveChatAccount struct {
	notify.ChatAccount `requires:"user"`
	Wrong              fault.Fields `json:"-"`
}

type deleteChatAccount struct {
	Connection string `query:"connection" doc:"The only one, where it is left out."`
	User       string `query:"user" required:"true" doc:"The user's name on the platform, without regard to case." example:"ada"`
}

type importChatAccounts struct {
	Connection string `query:"connection" json:"-" doc:"The only one, where it is left out."`
}

// ImportedAccounts says how many accounts were saved.
type ImportedAccounts struct {
	Created  int `json:"created" doc:"People who had no account in the chats."`
	Replaced int `json:"replaced" doc:"People who had others."`
}

func (a *API) registerChatAccounts(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: mentionsPath, Access: rest.Admins}, rest.Words{
		ID: "listChatAccounts", Tag: "rules", Summary: "Lists who the platform's users are in the chats, by connection and user.",
		Text: "Needs `ADMIN`. Rules with `mentionReviewers` mention them.", Answer: "A page of accounts.",
	}, a.listChatAccounts, rest.Example[listChatAccounts, rest.List[notify.ChatAccount]]{
		Name: "page", Out: &rest.List[notify.ChatAccount]{Items: []notify.ChatAccount{ada}},
	})
	rest.Add(r, rest.Route{Method: "POST", Path: mentionsPath, Access: rest.Admins}, rest.Words{
		ID: "saveChatAccount", Tag: "rules", Summary: "Sets the chat accounts of a platform user.",
		Text: "Needs `ADMIN`. It replaces the account that the user has.", Answer: "The account replaced the one that there was.",
		Also: []rest.Success{{Status: http.StatusCreated, Text: "The account is new."}},
	}, a.saveChatAccount, rest.Example[saveChatAccount, rest.Answer[notify.ChatAccount]]{
		Name: "ada", In: saveChatAccount{ChatAccount: ada},
	})
	rest.Add(r, rest.Route{Method: "DELETE", Path: mentionsPath, Access: rest.Admins}, rest.Words{
		ID: "deleteChatAccount", Tag: "rules", Summary: "Deletes the account of a user.", Text: "Needs `ADMIN`.",
		Answer:  "The account is deleted.",
		Refused: []int{http.StatusNotFound},
	}, rest.Done(func(ctx context.Context, in deleteChatAccount) error {
		return a.ChatAccounts.Delete(ctx, in.Connection, in.User)
	}))
	rest.Serve[importChatAccounts, ImportedAccounts](r, rest.Route{Method: "POST", Path: mentionsPath + "/import", Access: rest.Admins},
		rest.Words{
			ID: "importChatAccounts", Tag: "rules", Summary: "Saves many accounts of a connection, all or none.", Answer: "All are saved.",
			Text: "Needs `ADMIN`. The columns are user, teams and slack, of which the last may be left out. At most 10,000 accounts and " +
				"1 MiB at once. What is wrong is named by its line.",
			Takes: []rest.Media{{Type: "text/csv",
				Examples: map[string]any{"two": "user,teams,slack\ngrace,grace@example.com,U012AB3CD\nalan,alan@example.com,\n"}}},
		}, a.importChatAccounts)
}

var ada = notify.ChatAccount{Connection: "main", User: "ada", Teams: "ada@example.com", Slack: "U012AB3CD"}

func (a *API) listChatAccounts(ctx context.Context, in listChatAccounts) (list rest.List[notify.ChatAccount], err error) {
	ask := notify.ChatAccountPage{Connection: in.Connection, Search: in.Search, Limit: in.Page.Limit + 1}
	if in.Page.After != "" {
		var ok bool
		if ask.AfterConnection, ask.AfterUser, ok = strings.Cut(in.Page.After, "/"); !ok {
			return list, rest.ErrAfter()
		}
	}
	found, err := a.ChatAccounts.List(ctx, ask)
	return rest.ListOf(in.Page, found, err, func(x notify.ChatAccount) string { return x.Connection + "/" + x.User })
}

func (a *API) saveChatAccount(ctx context.Context, in saveChatAccount) (out rest.Answer[notify.ChatAccount], err error) {
	draft := notify.ChatAccount{Connection: in.Connection, User: in.User, Teams: in.Teams, Slack: in.Slack}
	saved, created, err := a.ChatAccounts.Save(ctx, draft, in.Wrong)
	out.Body = saved
	if created {
		out.Status = http.StatusCreated
	}
	return out, err
}

func (a *API) importChatAccounts(w http.ResponseWriter, r *http.Request, in importChatAccounts) error {
	accounts, lines, err := notify.ReadChatAccounts(r.Body)
	if err != nil {
		return err
	}
	created, err := a.ChatAccounts.Import(r.Context(), in.Connection, accounts, lines)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, ImportedAccounts{created, len(accounts) - created})
}
