package api

import (
	"net/http"
	"slices"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const refusedPath = "/rest/outrigger/1.0/refused-webhooks"

// refusedJSON is what a hook refused for one reason.
type refusedJSON struct {
	Connection     string               `json:"connection"`
	Hook           string               `json:"hook,omitempty"`
	Reason         notify.RefusalReason `json:"reason"`
	Count          int                  `json:"count"`
	Recent         int                  `json:"recent"`
	LastAt         time.Time            `json:"lastAt"`
	LastAddress    string               `json:"lastAddress"`
	LastMessage    string               `json:"lastMessage"`
	NeedsAttention bool                 `json:"needsAttention"`
	Advice         string               `json:"advice"`
}

func refusedOf(w notify.RefusedWebhooks) refusedJSON {
	return refusedJSON{
		w.Connection, w.Hook, w.Reason, w.Count, w.Recent, w.LastAt.UTC(), w.LastBy, w.Message, w.NeedsAttention(), w.Reason.Advice(),
	}
}

func (a *API) registerRefused(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: refusedPath, Access: rest.SignedIn, Query: rest.Paged("connection")}, a.listRefused)
}

func (a *API) listRefused(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	all, err := a.Hooks.Refused(ctx)
	if err != nil {
		return err
	}
	if name := r.URL.Query().Get("connection"); name != "" {
		if a.Hooks.Store.Platforms().Connections.Find(name) == nil {
			return identity.Missing(ctx, "There is no connection %q.", name)
		}
		all = slices.DeleteFunc(all, func(r notify.RefusedWebhooks) bool { return r.Connection != name })
	}
	key := func(r notify.RefusedWebhooks) string {
		return r.Connection + "\x00" + r.Hook + "\x00" + string(r.Reason) // sorts as the list is sorted
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, pageAfter(page, all, key), key, refusedOf))
}
