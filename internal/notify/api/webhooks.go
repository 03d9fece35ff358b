package api

import (
	"net/http"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// webhookJSON is a project of a platform with the webhook by which its events
// come here.
type webhookJSON struct {
	ProjectKey  string              `json:"projectKey"`
	ProjectName string              `json:"projectName,omitempty"`
	State       notify.WebhookState `json:"state"`
	Hook        string              `json:"hook,omitempty"`
	PlatformID  int64               `json:"platformId,omitempty"`
	Managed     bool                `json:"managed"`
	Failing     bool                `json:"failing"`
	Successes   int64               `json:"successes"`
	Failures    int64               `json:"failures"`
	LastSuccess *time.Time          `json:"lastSuccess,omitempty"`
	LastFailure *time.Time          `json:"lastFailure,omitempty"`
	Answer      string              `json:"answer,omitempty"`
	Reason      string              `json:"reason,omitempty"`
	CheckedAt   *time.Time          `json:"checkedAt,omitempty"`
}

func webhookOut(w *notify.ProjectWebhook) webhookJSON {
	return webhookJSON{
		ProjectKey: w.Project.Key, ProjectName: w.Project.Name, State: w.State, Hook: w.Hook, PlatformID: w.ID, Managed: !w.SetAt.IsZero(),
		Failing: w.Failing(), Successes: w.Health.Successes, Failures: w.Health.Failures, LastSuccess: timePointer(w.Health.LastSuccess),
		LastFailure: timePointer(w.Health.LastFailure), Answer: w.Health.Answer, Reason: w.Reason, CheckedAt: timePointer(w.CheckedAt),
	}
}

// coverageJSON says how many projects of a connection send their events here.
type coverageJSON struct {
	Connection string     `json:"connection"`
	Projects   int        `json:"projects"`
	Sending    int        `json:"sending"`
	Failing    int        `json:"failing"`
	CheckedAt  *time.Time `json:"checkedAt,omitempty"`
	Reason     string     `json:"reason,omitempty"`
}

const coveragePath = basePath + "/coverage"

func (a *API) registerWebhooks(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: coveragePath, Access: rest.Admins}, a.coverage)
	path := connectionsPath + "/{name}/webhooks"
	r.Handle(rest.Route{Method: "GET", Path: path, Access: rest.SysAdmins, Query: rest.Paged()}, a.listWebhooks)
	r.Handle(rest.Route{Method: "POST", Path: path + "/check", Access: rest.SysAdmins}, a.checkWebhooks)
	r.Handle(rest.Route{Method: "POST", Path: path + "/projects/{project}", Access: rest.SysAdmins}, a.createWebhook)
}

func (a *API) coverage(w http.ResponseWriter, r *http.Request) error {
	all, err := a.Webhooks.Coverage(r.Context())
	if err != nil {
		return err
	}
	out := make([]coverageJSON, len(all))
	for i, c := range all {
		out[i] = coverageJSON{c.Connection, c.Projects, c.Sending, c.Failing, timePointer(c.CheckedAt), c.Reason}
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

func (a *API) listWebhooks(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	all, err := a.Webhooks.List(r.Context(), r.PathValue("name"), page.After, page.Limit+1)
	if err != nil {
		return err
	}
	key := func(p notify.ProjectWebhook) string { return p.Project.Key }
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, all, key, func(p notify.ProjectWebhook) webhookJSON { return webhookOut(&p) }))
}

func (a *API) checkWebhooks(w http.ResponseWriter, r *http.Request) error {
	if err := a.Webhooks.CheckAll(r.Context(), r.PathValue("name")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

func (a *API) createWebhook(w http.ResponseWriter, r *http.Request) error {
	p, err := a.Webhooks.Create(r.Context(), r.PathValue("name"), r.PathValue("project"))
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, webhookOut(p))
}
