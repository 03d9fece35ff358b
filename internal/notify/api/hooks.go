package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// Hook is where webhooks come in.
type Hook struct {
	Name          string    `json:"name" doc:"Empty for the connection's own."`
	ProjectKey    string    `json:"projectKey,omitempty" doc:"What it may speak of; without it everything."`
	RepositoryKey string    `json:"repositoryKey,omitempty" doc:"With projectKey, the only repository that it may speak of."`
	URL           string    `json:"url" doc:"What to enter on the platform."`
	Secret        string    `json:"secret,omitempty" doc:"What the platform signs with; shown at creation and rotation only."`
	ReadOnly      bool      `json:"readOnly" doc:"Its secret is in the configuration file."`
	SecretLost    bool      `json:"secretLost,omitempty"`
	PreviousUntil time.Time `json:"previousUntil,omitzero" doc:"Until when the secret before the last rotation signs too."`
	CreatedBy     string    `json:"createdBy,omitempty" doc:"Who created it."`
	CreatedAt     time.Time `json:"createdAt,omitzero" doc:"When that was."`
	RotatedBy     string    `json:"rotatedBy,omitempty" doc:"Who rotated its secret last; absent where nobody has."`
	RotatedAt     time.Time `json:"rotatedAt,omitzero" doc:"When that was."`
}

// MemberWords are those of the members that need more than a few.
func (Hook) MemberWords() map[string]string {
	return map[string]string{
		"secretLost": "True where its secret was encrypted with a key that is lost: webhooks to it are refused until it is rotated. " +
			"Absent otherwise.",
	}
}

func hookOf(ctx context.Context, h *notify.Hook) Hook {
	return Hook{
		Name: h.Name, ProjectKey: h.Scope.ProjectKey, RepositoryKey: h.Scope.RepositoryKey,
		URL: rest.Link(ctx, notify.HookPath(h.Connection, h.Name)), ReadOnly: h.ID == 0, SecretLost: h.SecretLost(),
		PreviousUntil: h.PreviousUntil,
		CreatedBy:     h.CreatedBy, CreatedAt: h.CreatedAt, RotatedBy: h.RotatedBy, RotatedAt: h.RotatedAt,
	}
}

// newHook is a hook to make.
type newHook struct {
	ofConnection
	Name          string       `json:"name" doc:"Of its own."`
	ProjectKey    string       `json:"projectKey,omitempty" doc:"What it may speak of; without it everything."`
	RepositoryKey string       `json:"repositoryKey,omitempty" doc:"With projectKey, the only repository that it may speak of."`
	Wrong         fault.Fields `json:"-"`
	rest.Ignored[Hook]
}

type ofHook struct {
	ofConnection
	Hook string `path:"hook" doc:"The hook's name." example:"nowhere"`
}

const hooksPath = connectionsPath + "/{name}/hooks"

func (a *API) registerHooks(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "POST", Path: connectionsPath + "/{name}/rotate", Access: rest.SysAdmins}, rest.Words{
		ID: "rotateConnectionSecret", Tag: "connections", Summary: "Gives the connection's own hook a new secret.",
		Text: "Needs `SYS_ADMIN`. The answer is the only time that it is shown; the old one signs for 7 days more. A secret that is in " +
			"the configuration file is 409.",
		Answer: "The hook, with its new secret.", Refused: []int{http.StatusConflict},
	}, func(ctx context.Context, in ofConnection) (Hook, error) {
		return a.rotateHook(ctx, ofHook{in, ""})
	}, rest.Example[ofConnection, Hook]{
		Name: "fresh", Err: fault.New(fault.Conflict, "The secret of this hook is in the configuration file; change it there."),
	})
	rest.Add(r, rest.Route{Method: "GET", Path: hooksPath, Access: rest.SignedIn}, rest.Words{
		ID: "listHooks", Tag: "connections", Summary: "Lists the hooks of a connection, its own first, then by name.",
		Text: "Those that one administers; that of scope all needs `SYS_ADMIN`.", Answer: "A page of hooks, without secrets.",
		Refused: []int{http.StatusForbidden},
	}, a.listHooks, rest.Example[pageOfConnection, rest.List[Hook]]{Name: "page", Out: &rest.List[Hook]{Items: []Hook{{
		Name: "atl", ProjectKey: "ATL", URL: "https://tools.example.com/hooks/main/atl", CreatedBy: "admin", CreatedAt: exampleTime,
	}}}})
	rest.Add(r, rest.Route{Method: "POST", Path: hooksPath, Access: rest.SignedIn}, rest.Words{
		ID: "createHook", Tag: "connections", Summary: "Makes a hook with a scope and a secret of its own.", Status: http.StatusCreated,
		Text: "Without keys its scope is everything, which needs `SYS_ADMIN`; with `projectKey` that project, for its administrators; " +
			"with both keys that repository, for its administrators. The answer is the only time that `secret` is shown. Hooks can be " +
			"added to a connection of the configuration file.",
		Answer: "The hook takes webhooks, on every node.", Headers: []string{"Location"},
		Refused: []int{http.StatusForbidden, http.StatusConflict},
	}, a.createHook, rest.Example[newHook, rest.Answer[Hook]]{
		Name: "project", In: newHook{Name: "atl", ProjectKey: "ATL"},
		Out: &rest.Answer[Hook]{Body: Hook{
			Name: "atl", ProjectKey: "ATL", URL: "https://tools.example.com/hooks/main/atl",
			Secret: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", CreatedBy: "admin", CreatedAt: exampleTime,
		}},
	})
	one, missing := hooksPath+"/{hook}", fault.New(fault.NotFound, `The connection "main" has no hook "nowhere".`)
	rest.Add(r, rest.Route{Method: "GET", Path: one, Access: rest.SignedIn}, rest.Words{
		ID: "getHook", Tag: "connections", Summary: "Returns a hook.", Text: "Needs administration of its scope.",
		Answer: "The hook, without its secret.", Refused: []int{http.StatusForbidden},
	}, a.hook, rest.Example[ofHook, Hook]{Name: "fresh", Err: missing})
	rest.Add(r, rest.Route{Method: "DELETE", Path: one, Access: rest.SignedIn}, rest.Words{
		ID: "deleteHook", Tag: "connections", Summary: "Deletes a hook.", Text: "What it signed is refused from then on, on every node.",
		Answer: "The hook is gone.", Refused: []int{http.StatusForbidden, http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in ofHook) error { return a.Hooks.Delete(ctx, in.Connection, in.Hook) }))
	rest.Add(r, rest.Route{Method: "POST", Path: one + "/rotate", Access: rest.SignedIn}, rest.Words{
		ID: "rotateHook", Tag: "connections", Summary: "Gives a hook a new secret.", Answer: "The hook, with its new secret.",
		Text:    "The answer is the only time that it is shown; the old one signs for 7 days more.",
		Refused: []int{http.StatusForbidden, http.StatusConflict},
	}, a.rotateHook, rest.Example[ofHook, Hook]{Name: "fresh", Err: missing})
}

func (a *API) listHooks(ctx context.Context, in pageOfConnection) (list rest.List[Hook], err error) {
	all, err := a.Hooks.List(ctx, in.Connection)
	name := func(h *notify.Hook) string { return h.Name }
	return rest.NewList(in.Page, pageAfter(in.Page, all, name), err, name, func(h *notify.Hook) Hook { return hookOf(ctx, h) })
}

func (a *API) hook(ctx context.Context, in ofHook) (Hook, error) {
	h, err := a.Hooks.Get(ctx, in.Connection, in.Hook)
	if err != nil {
		return Hook{}, err
	}
	return hookOf(ctx, h), nil
}

func (a *API) createHook(ctx context.Context, in newHook) (answer rest.Answer[Hook], err error) {
	scope := notify.Scope{ProjectKey: in.ProjectKey, RepositoryKey: in.RepositoryKey}
	draft := notify.Hook{Connection: in.Connection, Name: in.Name, Scope: scope}
	if len(in.Wrong) > 0 {
		return answer, fault.Every(in.Wrong.Err(), draft.Validate())
	}
	h, err := a.Hooks.Create(ctx, draft)
	return rest.Created(ctx, withSecret(ctx, &h), connectionsPath+"/"+h.Connection+"/hooks/"+h.Name), err
}

func withSecret(ctx context.Context, h *notify.Hook) Hook {
	out := hookOf(ctx, h)
	out.Secret = h.Secret.Reveal()
	return out
}

func (a *API) rotateHook(ctx context.Context, in ofHook) (Hook, error) {
	h, err := a.Hooks.Rotate(ctx, in.Connection, in.Hook)
	return withSecret(ctx, &h), err
}
