package api

import (
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
)

const connectionsPath = "/rest/outrigger/1.0/connections"

// Connection is a connection to a code-hosting platform.
type Connection struct {
	Name           string `json:"name" doc:"Fixed once it is there. It is part of the webhook's URL."`
	Version        int64  `json:"version,omitempty" doc:"Counts saves; none for a connection of the configuration file."`
	Kind           string `json:"kind" doc:"bitbucket-dc or bitbucket-cloud; fixed once it is there." example:"bitbucket-dc"`
	BaseURL        string `json:"baseUrl" doc:"The platform's own." example:"https://git.example.com"`
	User           string `json:"user,omitempty" doc:"Of the account for the platform's REST API; none for a token that needs no user."`
	HasToken       bool   `json:"hasToken" readonly:"true" doc:"Whether a token is stored."`
	ManageWebhooks bool   `json:"manageWebhooks,omitempty"`
	OAuthClientID  string `json:"oauthClientId,omitempty"`
	HasOAuthSecret bool   `json:"hasOauthClientSecret,omitempty" readonly:"true" doc:"Whether a secret of the OAuth consumer is stored."`
	ReadOnly       bool   `json:"readOnly" readonly:"true" doc:"It is declared in the configuration file."`
	WebhookURL     string `json:"webhookUrl,omitempty" readonly:"true" doc:"Of its own hook."`
	WebhookSecret  string `json:"webhookSecret,omitempty" readonly:"true" doc:"Of its own hook; shown once, at creation."`
	Saved
}

// MemberWords are those of the members that need more than a few.
func (Connection) MemberWords() map[string]string {
	return map[string]string{
		"manageWebhooks": "Outrigger creates a webhook in every project of the platform, which takes an account that administers them; " +
			"of a cloud platform in every repository that has rules, and deletes it there with the last one. It never writes anything " +
			"else there. False by default.",
		"oauthClientId": "For a cloud platform: the key of the OAuth consumer with which users authorise their accounts.",
		"token": "The account's token or password. Saving none keeps the stored one, if scheme, host and port of `baseUrl` are " +
			"unchanged. It is never read back.",
		"oauthClientSecret": "Of the OAuth consumer. Saving none keeps the stored one, if scheme, host and port of `baseUrl` are " +
			"unchanged. It is never read back.",
	}
}

// newConnection is a connection to save.
type newConnection struct {
	Connection        `requires:"name,kind,baseUrl"`
	Token             string       `json:"token,omitempty"`
	OAuthClientSecret string       `json:"oauthClientSecret,omitempty"`
	Wrong             fault.Fields `json:"-"`
}

type changedConnection struct {
	Path string `path:"name" json:"-" doc:"The connection's name." example:"main"`
	newConnection
	Match rest.Match `json:"-"`
}

type deletedConnection struct {
	ofConnection
	Match rest.Match
}

// ofConnection is a request about a connection.
type ofConnection struct {
	Connection string `path:"name" json:"-" doc:"The connection's name." example:"main"`
}

type pageOfConnection struct {
	ofConnection
	Page rest.Page
}

// pageAfter returns a page, and one more, of a list that is short enough to be
// held and sorted by key.
func pageAfter[T any](page rest.Page, all []T, key func(T) string) []T {
	i := 0
	for page.After != "" && i < len(all) && key(all[i]) <= page.After {
		i++
	}
	return all[i:min(len(all), i+page.Limit+1)]
}

func (a *API) listConnections(ctx context.Context, in paged) (list rest.List[Connection], err error) {
	all, err := a.Hooks.Connections(ctx)
	name := func(c notify.Connection) string { return c.Name }
	item := func(c notify.Connection) Connection { return connectionOf(ctx, &c) }
	return rest.NewList(in.Page, pageAfter(in.Page, all, name), err, name, item)
}

func (a *API) connection(ctx context.Context, in ofConnection) (out rest.Answer[Connection], err error) {
	c, err := a.Hooks.Connection(ctx, in.Connection)
	if err != nil {
		return out, err
	}
	return answerConnection(ctx, c), nil
}

func (a *API) createConnection(ctx context.Context, in newConnection) (out rest.Answer[Connection], err error) {
	c, key, err := a.Hooks.CreateConnection(ctx, in.connection(), in.Wrong)
	out = answerConnection(ctx, &c)
	out.Body.WebhookSecret = key.Reveal()
	out.Location = rest.Link(ctx, connectionsPath+"/"+c.Name)
	return out, err
}

func (a *API) saveConnection(ctx context.Context, in changedConnection) (rest.Answer[Connection], error) {
	draft := in.connection()
	if draft.Name != "" && draft.Name != in.Path {
		in.Wrong.Add("name", "The name of a connection is fixed: it is %s.", in.Path)
	}
	draft.Name = in.Path
	c, err := held(in.Match, draft.Version, a.connectionNow(ctx, in.Path), func(version int64) (notify.Connection, error) {
		draft.Version = version
		return a.Hooks.SaveConnection(ctx, draft, in.Wrong)
	})
	return answerConnection(ctx, &c), err
}

func (a *API) deleteConnection(ctx context.Context, in deletedConnection) error {
	return heldDo(in.Match, a.connectionNow(ctx, in.Connection), func(version int64) error {
		return a.Hooks.DeleteConnection(ctx, in.Connection, version)
	})
}

// connection is what is to be saved.
func (in *newConnection) connection() notify.Connection {
	return notify.Connection{
		Name: in.Name, Version: in.Version, Kind: rest.Spelled(in.Kind, "bitbucket-dc", notify.KindBitbucketCloud),
		BaseURL: in.BaseURL, User: in.User, Token: secret.New(in.Token), ManageWebhooks: in.ManageWebhooks,
		OAuthClientID: in.OAuthClientID, OAuthClientSecret: secret.New(in.OAuthClientSecret),
	}
}

func answerConnection(ctx context.Context, c *notify.Connection) rest.Answer[Connection] {
	out := rest.Answer[Connection]{Body: connectionOf(ctx, c)}
	if !c.File {
		out.ETag = rest.ETag(connectionID(c), c.Version)
	}
	return out
}

func connectionOf(ctx context.Context, c *notify.Connection) Connection {
	return Connection{
		Name: c.Name, Version: c.Version, Kind: c.Kind, BaseURL: c.BaseURL, User: c.User, HasToken: !c.Token.IsZero(), ReadOnly: c.File,
		ManageWebhooks: c.ManageWebhooks, OAuthClientID: c.OAuthClientID, HasOAuthSecret: !c.OAuthClientSecret.IsZero(),
		WebhookURL: rest.Link(ctx, notify.HookPath(c.Name, "")),
		Saved:      Saved{c.CreatedBy, c.CreatedAt, c.UpdatedBy, c.UpdatedAt},
	}
}
