package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// ProjectWebhook is a project of a platform with the webhook by which its events
// come here.
type ProjectWebhook struct {
	ProjectKey  string              `json:"projectKey" doc:"The project's key."`
	ProjectName string              `json:"projectName,omitempty" doc:"The project's name."`
	State       notify.WebhookState `json:"state" enum:"unchecked,sends,inactive,missing,unknown"`
	Hook        string              `json:"hook,omitempty" doc:"The hook that it calls; absent: the connection's own."`
	PlatformID  int64               `json:"platformId,omitempty" doc:"Of the webhook on the platform."`
	Managed     bool                `json:"managed" doc:"Outrigger wrote it."`
	Failing     bool                `json:"failing" doc:"The last call failed, as the platform counts."`
	Successes   int64               `json:"successes" doc:"Calls that succeeded, as the platform counts."`
	Failures    int64               `json:"failures" doc:"Calls that failed, as the platform counts."`
	LastSuccess time.Time           `json:"lastSuccess,omitzero" doc:"When the last call succeeded, as the platform says; absent: none."`
	LastFailure time.Time           `json:"lastFailure,omitzero" doc:"When the last call failed, as the platform says; absent: none."`
	Answer      string              `json:"answer,omitempty" doc:"What the last call that failed got."`
	Reason      string              `json:"reason,omitempty" doc:"Why the platform could not tell, or the webhook was not created."`
	CheckedAt   time.Time           `json:"checkedAt,omitzero" doc:"When it was looked at last; absent: not yet."`
}

// MemberWords are those of the members that need more than a few.
func (ProjectWebhook) MemberWords() map[string]string {
	return map[string]string{
		"state": "`sends`: a webhook of the project calls a hook here; `inactive`: it is switched off on the platform; `missing`: there " +
			"is none; `unknown`: the platform does not tell, see `reason`; `unchecked`: it was not looked at yet.",
	}
}

func webhookOf(w notify.ProjectWebhook) ProjectWebhook {
	return ProjectWebhook{
		ProjectKey: w.Project.Key, ProjectName: w.Project.Name, State: w.State, Hook: w.Hook, PlatformID: w.ID, Managed: !w.SetAt.IsZero(),
		Failing: w.Failing(), Successes: w.Health.Successes, Failures: w.Health.Failures, LastSuccess: w.Health.LastSuccess,
		LastFailure: w.Health.LastFailure, Answer: w.Health.Answer, Reason: w.Reason, CheckedAt: w.CheckedAt,
	}
}

// coverage says how many projects of a connection send their events here.
type coverage notify.Coverage

type ofProject struct {
	ofConnection
	Project string `path:"project" doc:"The project's key." example:"SHOP"`
}

const coveragePath = basePath + "/coverage"

func (a *API) registerWebhooks(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: coveragePath, Access: rest.Admins}, rest.Words{
		ID: "getCoverage", Tag: "connections", Summary: "Counts how many projects of each platform send their events here.",
		Text: "Needs `ADMIN`. Of connections that have an account: the platform's projects are listed every hour, and each one's webhook " +
			"is looked at once a day, every hour while something is wrong with it.",
		Answer: "The connections by name.",
	}, a.coverage, rest.Example[struct{}, []coverage]{Name: "one", Out: &[]coverage{
		{Connection: "main", Projects: 40, Sending: 38, Failing: 1, CheckedAt: exampleTime},
	}})
	path := connectionsPath + "/{name}/webhooks"
	rest.Add(r, rest.Route{Method: "GET", Path: path, Access: rest.SysAdmins}, rest.Words{
		ID: "listWebhooks", Tag: "connections", Answer: "A page of projects.",
		Summary: "Lists the projects of the platform, with the webhook by which the events of each come here.",
		Text:    "Needs `SYS_ADMIN`. By key; as it was when each was looked at last.",
	}, a.listWebhooks, rest.Example[pageOfConnection, rest.List[ProjectWebhook]]{
		Name: "page", Out: &rest.List[ProjectWebhook]{Items: []ProjectWebhook{{
			ProjectKey: "SHOP", ProjectName: "Shop", State: notify.WebhookSends, PlatformID: 17, Managed: true, Successes: 812,
			LastSuccess: exampleTime, CheckedAt: exampleTime,
		}}},
	})
	rest.Add(r, rest.Route{Method: "POST", Path: path + "/check", Access: rest.SysAdmins}, rest.Words{
		ID: "checkWebhooks", Tag: "connections", Summary: "Has all projects and their webhooks looked at again.",
		Status: http.StatusAccepted,
		Text:   "Needs `SYS_ADMIN`. It begins within a minute and looks at 20 projects a minute. A connection that has no account is 409.",
		Answer: "They are looked at soon.", Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in ofConnection) error { return a.Webhooks.CheckAll(ctx, in.Connection) }),
		rest.Example[ofConnection, rest.None]{
			Name: "fresh", Err: fault.New(fault.Conflict, "The connection main has no account that can ask the platform; give it a token."),
		})
	rest.Add(r, rest.Route{Method: "POST", Path: path + "/projects/{project}", Access: rest.SysAdmins}, rest.Words{
		ID: "createWebhook", Tag: "connections", Summary: "Creates the webhook of a project that has none.",
		Text: "Needs `SYS_ADMIN`, and a connection with `manageWebhooks` (409). The webhook calls a hook of the project's scope, which " +
			"is made where there is none; where the platform says that an event is unknown, it is asked again without newer ones.",
		Answer: "The project, whose events come here.", Refused: []int{http.StatusConflict, http.StatusServiceUnavailable},
	}, a.createWebhook, rest.Example[ofProject, ProjectWebhook]{
		Name: "fresh", Err: fault.New(fault.Conflict, "The connection main does not let Outrigger create webhooks on the platform; "+
			"set manageWebhooks, or create the webhook on the platform yourself."),
	})
}

func (a *API) coverage(ctx context.Context, _ struct{}) ([]coverage, error) {
	all, err := a.Webhooks.Coverage(ctx)
	return rest.Each(all, func(c notify.Coverage) coverage { return coverage(c) }), err
}

func (a *API) listWebhooks(ctx context.Context, in pageOfConnection) (list rest.List[ProjectWebhook], err error) {
	all, err := a.Webhooks.List(ctx, in.Connection, in.Page.After, in.Page.Limit+1)
	return rest.NewList(in.Page, all, err, func(p notify.ProjectWebhook) string { return p.Project.Key }, webhookOf)
}

func (a *API) createWebhook(ctx context.Context, in ofProject) (ProjectWebhook, error) {
	p, err := a.Webhooks.Create(ctx, in.Connection, in.Project)
	if err != nil {
		return ProjectWebhook{}, err
	}
	return webhookOf(*p), nil
}
