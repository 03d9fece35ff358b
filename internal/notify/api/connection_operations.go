package api

import (
	"context"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
)

type testedConnection struct {
	Name string `path:"name" doc:"The connection's name." example:"elsewhere"`
}

type platform struct {
	Platform string `json:"platform" doc:"What answered: the product and its version." example:"Bitbucket 9.4.2"`
}

func (a *API) registerConnections(r *rest.Router) {
	one := connectionsPath + "/{name}"
	rest.Add(r, rest.Route{Method: "PUT", Path: one, Access: rest.SysAdmins}, rest.Words{
		ID: "saveConnection", Tag: "connections", Summary: "Changes the base URL and the credentials of a connection.",
		Text: "Needs `SYS_ADMIN`. Without a `token` the stored one is kept, and so is the `oauthClientSecret`, if scheme, host and port " +
			"of `baseUrl` are unchanged; else they have to be given again (400). Giving credentials, and changing the path of `baseUrl`, " +
			"`user`, `manageWebhooks` or `oauthClientId` beside kept ones, needs more than a token (403). With its `version` (409), or " +
			"`If-Match` (412), a save overwrites nothing that was saved meanwhile; without either it goes through. A connection of the " +
			"configuration file is read-only.",
		Answer: "The connection as it is now.", Headers: []string{"ETag"}, Confirmed: true, Refused: []int{http.StatusConflict},
		RefusedFor: map[int]string{http.StatusConflict: "It was changed in the meantime, or it is declared in the configuration file."},
	}, a.saveConnection, rest.Example[changedConnection, rest.Answer[Connection]]{
		Name: "ofFile", In: changedConnection{newConnection: newConnection{Connection: exampleConnection("main")}},
		Err: fault.New(fault.Conflict, "The connection main is declared in the configuration file; change it there."),
	})
	rest.Add(r, rest.Route{Method: "DELETE", Path: one, Access: rest.SysAdmins}, rest.Words{
		ID: "deleteConnection", Tag: "connections", Summary: "Deletes a connection and its hooks.",
		Text:   "Needs `SYS_ADMIN`. A connection that has rules or activity reports stays (409).",
		Answer: "The connection is gone; its webhooks are 404.", Refused: []int{http.StatusConflict},
	}, rest.Done(a.deleteConnection))
	rest.Add(r, rest.Route{Method: "GET", Path: connectionsPath, Access: rest.SysAdmins}, rest.Words{
		ID: "listConnections", Tag: "connections", Summary: "Lists the connections to code-hosting platforms, by name.",
		Text: "Needs `SYS_ADMIN`.", Answer: "A page of connections, without secrets.",
	}, a.listConnections, rest.Example[paged, rest.List[Connection]]{
		Name: "page", Out: &rest.List[Connection]{Items: []Connection{savedConnection}},
	})
	rest.Add(r, rest.Route{Method: "POST", Path: connectionsPath, Access: rest.SysAdmins}, rest.Words{
		ID: "createConnection", Tag: "connections", Summary: "Makes a connection, with its own hook.", Status: http.StatusCreated,
		Text:   "Needs `SYS_ADMIN`. The answer is the only time that `webhookSecret` is shown.",
		Answer: "The connection is there, on every node.", Headers: []string{"ETag", "Location"},
		Confirmed: true, Refused: []int{http.StatusConflict},
	}, a.createConnection, newConnections...)
	rest.Add(r, rest.Route{Method: "GET", Path: one, Access: rest.SysAdmins}, rest.Words{
		ID: "getConnection", Tag: "connections", Summary: "Returns a connection.", Headers: []string{"ETag"},
		Text:   "Needs `SYS_ADMIN`. A connection of the configuration file has no `ETag`.",
		Answer: "The connection, without secrets.",
	}, a.connection, rest.Example[ofConnection, rest.Answer[Connection]]{Name: "own", Out: &rest.Answer[Connection]{Body: savedConnection}})
	rest.Add(r, rest.Route{Method: "POST", Path: one + "/test", Access: rest.SysAdmins}, rest.Words{
		ID: "testConnection", Tag: "connections", Summary: "Asks the platform who it is, with the connection's credentials.",
		Text:   "Needs `SYS_ADMIN`. A platform that does not answer as such is 503, with its words.",
		Answer: "It answers.", Refused: []int{http.StatusServiceUnavailable},
		RefusedFor: map[int]string{http.StatusNotFound: "There is no such connection."},
	}, func(ctx context.Context, in testedConnection) (platform, error) {
		name, err := a.Hooks.Test(ctx, in.Name)
		return platform{name}, err
	}, rest.Example[testedConnection, platform]{
		Name: "fresh", Err: fault.New(fault.NotFound, `There is no connection "elsewhere".`),
	})
	a.registerHooks(r)
	a.registerRenames(r)
}

func exampleConnection(name string) Connection {
	return Connection{Name: name, Kind: "bitbucket-dc", BaseURL: "https://git.example.com"}
}

var savedConnection = Connection{
	Name: "second", Version: 1, Kind: "bitbucket-dc", BaseURL: "https://git.example.com", HasToken: true,
	WebhookURL: "https://tools.example.com/hooks/second", Saved: Saved{"admin", exampleTime, "admin", exampleTime},
}

var newConnections = []rest.Example[newConnection, rest.Answer[Connection]]{
	{
		Name: "second", In: newConnection{Connection: exampleConnection("second")},
		Out: &rest.Answer[Connection]{Body: Connection{
			Name: "second", Version: 1, Kind: "bitbucket-dc", BaseURL: "https://git.example.com",
			WebhookURL: "https://tools.example.com/hooks/second", WebhookSecret: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
			Saved: Saved{"admin", exampleTime, "admin", exampleTime},
		}},
	},
	{
		Name: "nothing", In: newConnection{Connection: exampleConnection("Second!")},
		Err: fault.InvalidField("name", "A name has 1 to 63 lower-case letters, digits and dashes, and no dash at either end."),
	},
}
