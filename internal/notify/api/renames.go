package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const renamesPath = "/rest/outrigger/1.0/renames"

// Rename is an offered rename.
type Rename struct {
	ID         int64               `json:"id" doc:"The rename's id."`
	Connection string              `json:"connection" doc:"The platform that renamed it."`
	Hook       string              `json:"hook" doc:"Whose webhook said it; empty for the connection's own."`
	From       Place               `json:"from" doc:"What it was called."`
	To         Place               `json:"to" doc:"What it is called now."`
	Reason     notify.RenameReason `json:"reason" enum:"scope,occupied,grants"`
	There      occupants           `json:"there"`
	OfferedAt  time.Time           `json:"offeredAt" doc:"When a webhook last said it."`
}

// MemberWords are those of the members that need more than a few.
func (Rename) MemberWords() map[string]string {
	return map[string]string{
		"reason": "Why it waits. `scope`: the new key is not in the hook's scope. `occupied`: the new key had rules, reports, hooks or " +
			"permissions. `grants`: rules, reports and hooks moved; permissions never do on a webhook's word.",
		"there": "What is at the new key now, a project's repositories included. It cannot be confirmed while there is anything. For " +
			"`grants` only permissions count, since rules, reports and hooks have moved there.",
	}
}

// occupants are what is at the new key.
type occupants struct {
	Rules       int `json:"rules" min:"0" doc:"How many there are."`
	Reports     int `json:"reports" min:"0" doc:"How many there are."`
	Hooks       int `json:"hooks" min:"0" doc:"How many there are."`
	Permissions int `json:"permissions" min:"0" doc:"How many there are."`
}

// Place is a project, or a repository.
type Place struct {
	ProjectKey    string `json:"projectKey" doc:"The project's key."`
	RepositoryKey string `json:"repositoryKey,omitempty" doc:"The repository's slug; absent: the project itself."`
}

func renameOf(o notify.Rename) Rename {
	there := occupants{o.There.Rules, o.There.Reports, o.There.Hooks, o.There.Grants}
	return Rename{o.ID, o.Connection, o.Hook, Place(o.From), Place(o.To), o.Reason, there, o.OfferedAt}
}

type ofRename struct {
	ID int64 `path:"id" of:"rename" doc:"The id of the thing that the path names, as its list gives it." example:"1"`
}

func (a *API) registerRenames(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: renamesPath, Access: rest.SysAdmins}, rest.Words{
		ID: "listRenames", Tag: "connections", Text: "Needs `SYS_ADMIN`.", Answer: "A page of renames.",
		Summary: "Lists renames that webhooks reported and an administrator has to decide on, oldest first.",
	}, a.listRenames, rest.Example[paged, rest.List[Rename]]{Name: "page", Out: &rest.List[Rename]{Items: []Rename{{
		ID: 1, Connection: "main", From: Place{ProjectKey: "ALPHA"}, To: Place{ProjectKey: "BETA"}, Reason: notify.Occupied,
		There: occupants{Rules: 2}, OfferedAt: exampleTime,
	}}}})
	missing := []rest.Example[ofRename, rest.None]{{Name: "fresh", Err: fault.New(fault.NotFound, "There is no rename with id 1.")}}
	rest.Add(r, rest.Route{Method: "POST", Path: renamesPath + "/{id}/confirm", Access: rest.SysAdmins}, rest.Words{
		ID: "confirmRename", Tag: "connections", Summary: "Has rules, the scopes of hooks and permissions go by the new key.",
		Text: "Needs `SYS_ADMIN`. The keys of a rename never change: a webhook that names another new key makes another rename, with " +
			"another id, and this one is 409. So it is while rules, hooks or permissions are at the new key: move or delete these first.",
		Answer: "They do.", Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in ofRename) error { return a.Hooks.ConfirmRename(ctx, in.ID) }), missing...)
	rest.Add(r, rest.Route{Method: "POST", Path: renamesPath + "/{id}/dismiss", Access: rest.SysAdmins}, rest.Words{
		ID: "dismissRename", Tag: "connections", Summary: "Dismisses a rename.", Text: "Needs `SYS_ADMIN`.",
		Answer:  "It is offered no more.",
		Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in ofRename) error { return a.Hooks.DismissRename(ctx, in.ID) }), missing...)
}

func (a *API) listRenames(ctx context.Context, in paged) (list rest.List[Rename], err error) {
	after, err := in.Page.AfterID()
	if err != nil {
		return list, err
	}
	found, err := a.Hooks.OfferedRenames(ctx, after, in.Page.Limit+1)
	return rest.NewList(in.Page, found, err, func(o notify.Rename) string { return strconv.FormatInt(o.ID, 10) }, renameOf)
}
