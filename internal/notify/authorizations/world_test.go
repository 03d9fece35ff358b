package authorizations

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/egress/egresstest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/notify/store"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

const (
	base = "https://tools.example.com/outrigger"
	ana  = "712020:ana"
	ben  = "712020:ben"
)

// world is a played platform and nodes that share a database.
type world struct {
	*playgroundtest.Cloud
	t   *testing.T
	d   *db.DB
	url string

	mu    sync.Mutex
	now   time.Time
	users map[int64]identity.UserState // what became of them; else they are known
}

// node is one of them.
type node struct {
	*world
	*Service
	store *store.Store
	api   *admin.Authorizations
}

func eachWorld(t *testing.T, o bitbucketcloud.Options, fn func(t *testing.T, n *node)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { fn(t, newWorld(t, d, o).node("node_1")) },
		secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
}

func newWorld(t *testing.T, d *db.DB, o bitbucketcloud.Options) *world {
	w := &world{t: t, d: d, users: map[int64]identity.UserState{}, now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	o.Clock = w.clock
	o.Accounts = []bitbucketcloud.Account{{ID: ana, UUID: "{ana}", DisplayName: "Ana"}, {ID: ben, UUID: "{ben}", DisplayName: "Ben"}}
	o.Consumers = []bitbucketcloud.Consumer{{
		Key: "key", Secret: "client-secret", Name: "Outrigger", Callback: base + "/oauth/cloud", Scopes: []string{"account", "repository", "pullrequest", "webhook"},
	}}
	o.Repositories = []bitbucketcloud.Repository{
		{Workspace: "acme", Slug: "shop", Permissions: map[string]string{ana: "admin", ben: "read"}},
		{Workspace: "acme", Slug: "site", Permissions: map[string]string{ben: "admin"}},
	}
	w.Cloud = playgroundtest.NewCloud(o)
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) becomes(user int64, state identity.UserState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users[user] = state
}

func (w *world) userStates(_ context.Context, ids ...int64) (map[int64]identity.UserState, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	states := map[int64]identity.UserState{}
	for _, id := range ids {
		states[id] = cmp.Or(w.users[id], identity.UserKnown)
	}
	return states, nil
}

// connections are those of the file.
func (w *world) connections(baseURL string) notify.Connections {
	return notify.Connections{
		{Name: "cloud", Kind: notify.KindBitbucketCloud, BaseURL: baseURL, OAuthClientID: "key", OAuthClientSecret: secret.New("client-secret")},
		{Name: "bare", Kind: notify.KindBitbucketCloud, BaseURL: baseURL},
		{Name: "dc", Kind: "bitbucket-dc", BaseURL: baseURL},
	}
}

// node starts a node of a cluster.
func (w *world) node(id string) *node {
	w.t.Helper()
	return w.nodeWith(id, secrettest.Box(w.t, w.d))
}

// nodeWith starts a node with other keys.
func (w *world) nodeWith(id string, box *secret.Box) *node {
	w.t.Helper()
	log := slog.New(slog.DiscardHandler)
	n := &node{world: w, store: store.New(w.d, box, log)}
	n.moveTo(w.url)
	leases := dbtest.Leases(w.t, w.d, id)
	out := egresstest.Client(w.t)
	n.Service = New(Options{Store: n.store, Platform: client.New(out.Trusted(), w.clock), UserStates: w.userStates, Leases: leases, Clock: w.clock, Log: log})
	n.api = &admin.Authorizations{Store: n.store, Location: n.Location, Exchange: n.Exchange, UserStates: w.userStates, BaseURL: base, Clock: w.clock}
	return n
}

// moveTo changes the base URL of the connections.
func (n *node) moveTo(baseURL string) {
	n.t.Helper()
	kind := func(key string, _ []byte, _ string) (string, []notify.Event, error) { return key, nil, nil }
	n.store.UsePlatforms(n.connections(baseURL), map[string]notify.Decoder{notify.KindBitbucketCloud: kind, "bitbucket-dc": kind})
	// Any change of a hook has the platforms read again.
	if _, err := n.store.CreateHook(n.t.Context(), notify.Actor{Name: "ada"}, notify.Hook{Connection: "dc", Name: fmt.Sprintf("h%d", time.Now().UnixNano())}); err != nil && n.store.Platforms() != nil {
		n.t.Fatal(err)
	}
	if err := n.store.Load(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
}

// as is a user with a session who administers a repository of the connection.
func (w *world) as(user int64) context.Context {
	p := &identity.Principal{UserID: user, Name: fmt.Sprint("user ", user), Source: identity.Local, Session: user * 10}
	for _, connection := range []string{"cloud", "bare", "dc"} {
		p.Grants = append(p.Grants, identity.Grant{Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: connection, Project: "acme", Repository: "shop"}})
	}
	return identity.With(w.t.Context(), p)
}

// walk has a user go to the platform and grant access to an account there, and
// gives what the platform sends the browser back with.
func (n *node) walk(user int64, account string) admin.Callback {
	n.t.Helper()
	location, err := n.api.Begin(n.as(user), "cloud", "/notifications/cloud")
	if err != nil {
		n.t.Fatal(err)
	}
	query, redirect := n.Grant(location, account)
	if redirect != base+"/oauth/cloud" {
		n.t.Fatal(query, redirect)
	}
	return admin.ReadCallback(query)
}

// authorize has a user authorise an account.
func (n *node) authorize(user int64, account string) notify.Authorization {
	n.t.Helper()
	_, a, err := n.api.Complete(n.as(user), "cloud", n.walk(user, account))
	if err != nil {
		n.t.Fatal(err)
	}
	return a
}

func (n *node) round() int {
	n.t.Helper()
	refreshed, err := n.runOnce(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	return refreshed
}

func (n *node) account(id int64) notify.Authorization {
	n.t.Helper()
	a, err := n.store.Authorization(n.t.Context(), id)
	if err != nil {
		n.t.Fatal(err)
	}
	return a
}

// works asks the platform with an account's token.
func (n *node) works(id int64) error {
	return n.Use(n.t.Context(), id, func(c *notify.Connection, token secret.Value) error {
		_, err := n.Service.Platform.User(n.t.Context(), c, token)
		return err
	})
}

// refreshes counts those that the platform was asked for, exchanges left out.
func (w *world) refreshes(authorized int) int { return w.Asked("access_token") - authorized }

func queryOf(t *testing.T, location string) url.Values {
	t.Helper()
	u, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}
