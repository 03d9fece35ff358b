package api

import (
	"context"
	"net/http"
	"slices"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// RefusedPath is where refused webhooks are.
const RefusedPath = "/rest/outrigger/1.0/refused-webhooks"

// RefusedWebhooks is what a hook refused for one reason.
type RefusedWebhooks struct {
	notify.RefusedWebhooks
	NeedsAttention bool   `json:"needsAttention"`
	Advice         string `json:"advice" doc:"What helps."`
}

// MemberWords are those of the members that need more than a few.
func (RefusedWebhooks) MemberWords() map[string]string {
	return map[string]string{
		"reason": "`signature`: missing or wrong (401); `no_secret`: the hook has none to check by (401); `scope`: about something else " +
			"than the hook is for (403); `body`: cannot be read (400, 408, 413); `unknown_hook`: there is no such hook (404).",
		"needsAttention": "Whether the overview shows it: ten or more within the recent hours, or no event came in by the hook in 24 hours.",
	}
}

func refusedOf(w notify.RefusedWebhooks) RefusedWebhooks {
	return RefusedWebhooks{w, w.NeedsAttention(), w.Reason.Advice()}
}

type refusedQuery struct {
	Connection string `query:"connection"`
	Page       rest.Page
}

// MemberWords are those of the parameters.
func (refusedQuery) MemberWords() map[string]string {
	return map[string]string{"connection": "Only those of this connection; 404 where there is none, for others than `SYS_ADMIN` 403."}
}

func (a *API) registerRefused(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: RefusedPath, Access: rest.SignedIn}, rest.Words{
		ID: "listRefusedWebhooks", Tag: "connections", Answer: "A page of counts.",
		Summary: "Counts the webhooks that were refused in the last 24 hours, by connection, hook and reason.",
		Text: "A refused webhook is no event: it was answered with 400, 401, 403, 404, 408 or 413, and nothing of it is kept. With `ADMIN` " +
			"those of all connections, else those of the hooks that you administer. Posts to addresses that name no connection are not counted.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, a.listRefused, refusedExample...)
}

var refusedExample = []rest.Example[refusedQuery, rest.List[RefusedWebhooks]]{{
	Name: "page", Out: &rest.List[RefusedWebhooks]{Items: []RefusedWebhooks{refusedOf(notify.RefusedWebhooks{
		RefusalKey: notify.RefusalKey{Connection: "main", Hook: "atl", Reason: notify.RefusedSignature}, Count: 12, Recent: 3,
		LastAt: exampleTime, LastBy: "192.0.2.7", Message: "The signature does not match the body.", Alone: true,
	})}},
}}

func (a *API) listRefused(ctx context.Context, in refusedQuery) (list rest.List[RefusedWebhooks], err error) {
	all, err := a.Hooks.Refused(ctx)
	if err != nil {
		return list, err
	}
	if name := in.Connection; name != "" {
		if a.Hooks.Store.Platforms().Connections.Find(name) == nil {
			return list, identity.Missing(ctx, "There is no connection %q.", name)
		}
		all = slices.DeleteFunc(all, func(r notify.RefusedWebhooks) bool { return r.Connection != name })
	}
	key := func(r notify.RefusedWebhooks) string {
		return r.Connection + "\x00" + r.Hook + "\x00" + string(r.Reason) // sorts as the list is sorted
	}
	return rest.NewList(in.Page, pageAfter(in.Page, all, key), nil, key, refusedOf)
}
