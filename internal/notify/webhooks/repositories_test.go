package webhooks

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/egress/egresstest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/authorizations"
	cloud "outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/notify/store"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

const ana = "712020:ana"

var shop = notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "shop"}

// cloudWorld is a played cloud platform and a node that looks at it.
type cloudWorld struct {
	*playgroundtest.Cloud
	d     *db.DB
	t     *testing.T
	url   string
	now   time.Time
	store *store.Store
	watch *Watch
	api   *admin.Webhooks
}

func eachCloudWorld(t *testing.T, manage bool, fn func(t *testing.T, w *cloudWorld)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := &cloudWorld{t: t, d: d, now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
		clock := func() time.Time { return w.now }
		w.Cloud = playgroundtest.NewCloud(bitbucketcloud.Options{
			Clock: clock, Accounts: []bitbucketcloud.Account{{ID: ana, UUID: "{ana}", DisplayName: "Ana"}},
			Consumers: []bitbucketcloud.Consumer{{
				Key: "key", Secret: "client-secret", Callback: base + "/oauth/cloud", Scopes: []string{"account", "repository", "pullrequest", "webhook", "issue"},
			}},
			Repositories: []bitbucketcloud.Repository{{Workspace: "acme", Slug: "shop", Permissions: map[string]string{ana: "admin"}}, {Workspace: "acme", Slug: "s-hop", Permissions: map[string]string{ana: "admin"}}},
		})
		server := httptest.NewServer(w.Handler())
		t.Cleanup(server.Close)
		w.url = server.URL
		log := slog.New(slog.DiscardHandler)
		w.store = store.New(d, secrettest.Box(t, d), log)
		decode := func(key string, _ []byte, _ string) (string, []notify.Event, error) { return key, nil, nil }
		w.store.UsePlatforms(notify.Connections{
			{Name: "cloud", Kind: notify.KindBitbucketCloud, BaseURL: w.url, OAuthClientID: "key", OAuthClientSecret: secret.New("client-secret"), ManageWebhooks: manage},
		}, map[string]notify.Decoder{notify.KindBitbucketCloud: decode})
		if err := w.store.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		leases := dbtest.Leases(t, d, "node_1")
		out := egresstest.Client(t)
		platform := cloud.New(out.Trusted(), clock)
		accounts := authorizations.New(authorizations.Options{Store: w.store, Platform: platform, UserStates: knownUsers, Leases: leases, Clock: clock, Log: log})
		w.watch = New(Options{Store: w.store, Cloud: platform, Use: accounts.Use, BaseURL: base, Leases: leases, Clock: clock, Log: log})
		w.api = &admin.Webhooks{Store: w.store, Check: w.watch.Check, CheckRepository: w.watch.CheckRepository, Clock: time.Now}
		w.authorise(accounts)
		fn(t, w)
	}, secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
}

// knownUsers says that every user is there.
func knownUsers(_ context.Context, ids ...int64) (map[int64]identity.UserState, error) {
	states := map[int64]identity.UserState{}
	for _, id := range ids {
		states[id] = identity.UserKnown
	}
	return states, nil
}

// authorise has Ana's account authorised, with the id 1.
func (w *cloudWorld) authorise(accounts *authorizations.Service) {
	w.t.Helper()
	api := &admin.Authorizations{Store: w.store, UserStates: knownUsers, Location: accounts.Location, Exchange: accounts.Exchange, BaseURL: base, Clock: func() time.Time { return w.now }}
	location, err := api.Begin(w.ada(), "cloud", "/")
	if err != nil {
		w.t.Fatal(err)
	}
	query, _ := w.Grant(location, ana)
	if _, _, err := api.Complete(w.ada(), "cloud", admin.ReadCallback(query)); err != nil {
		w.t.Fatal(err)
	}
}

// ada administers the repository.
func (w *cloudWorld) ada() context.Context {
	return identity.With(w.t.Context(), &identity.Principal{UserID: 1, Name: "ada", Source: identity.Local, Session: 1, Grants: []identity.Grant{
		{Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: "cloud", Project: "acme", Repository: "shop"}},
	}})
}

// rule saves a rule of a repository.
func (w *cloudWorld) rule(at notify.RepositoryRef) {
	w.t.Helper()
	if _, err := w.store.SaveRule(w.t.Context(), notify.Actor{Name: "ada"}, notify.Rule{
		Name: "pushes", Connection: "cloud", ProjectKey: at.ProjectKey, RepositoryKey: at.RepositoryKey, Format: notify.Auto, Enabled: true, AuthorizationID: 1,
		Filter: notify.Filter{EventTypes: []notify.EventType{notify.BranchUpdated}},
	}, "https://hooks.slack.com/services/T0/B0/x"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *cloudWorld) round(d time.Duration) int {
	w.t.Helper()
	w.now = w.now.Add(d)
	looked, err := w.watch.runOnce(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return looked
}

func (w *cloudWorld) state(at notify.RepositoryRef) notify.RepositoryWebhook {
	w.t.Helper()
	is, err := w.store.RepositoryWebhook(w.t.Context(), "cloud", at)
	if err != nil {
		w.t.Fatal(err)
	}
	return is
}

// one returns the only webhook of a repository, which calls a hook of its own,
// signed with its secret.
func (w *cloudWorld) one(at notify.RepositoryRef) bitbucketcloud.Webhook {
	w.t.Helper()
	there := w.Webhooks(at.ProjectKey, at.RepositoryKey)
	if len(there) != 1 {
		w.t.Fatalf("%v has the webhooks %+v: %+v", at, there, w.state(at))
	}
	name, ok := notify.HookCalled(base, "cloud", there[0].URL)
	h, _ := w.store.Platforms().Hook("cloud", name)
	if !ok || h == nil || h.Scope != at || h.Secret.Reveal() != there[0].Secret || !there[0].Active || len(there[0].Events) < 20 {
		w.t.Errorf("%v: %+v calls %+v", at, there[0], h)
	}
	return there[0]
}

// The first rule of a repository has its webhook created with the account of the
// rule; it is looked at once a day, and put right where it was written here.
func TestARepositorysWebhookIsKept(t *testing.T) {
	eachCloudWorld(t, true, func(t *testing.T, w *cloudWorld) {
		if n := w.round(0); n != 0 {
			t.Errorf("looked at %d without a rule", n)
		}
		w.rule(shop)
		w.rule(shop)
		w.rule(notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "s-hop"})
		if n := w.round(0); n != 2 || w.round(0) != 0 {
			t.Errorf("looked at %d", n)
		}
		first := w.one(shop)
		w.one(notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "s-hop"})
		if is := w.state(shop); is.State != notify.WebhookSends || is.Hook != "acme-shop" || is.SetAt.IsZero() || is.AuthorizationID != 1 {
			t.Errorf("%+v", is)
		}
		asked := w.Asked("/hooks")
		if w.round(checkEvery - time.Second); w.Asked("/hooks") != asked {
			t.Error("it was looked at sooner than once a day")
		}

		off := first
		off.Active = false
		w.SetWebhook(off)
		w.round(time.Second)
		if again := w.one(shop); again.UUID != first.UUID {
			t.Errorf("switched on again: %+v", again)
		}

		w.DeleteWebhooks("acme", "shop")
		w.round(checkEvery)
		if again := w.one(shop); again.UUID == first.UUID || again.URL != first.URL {
			t.Errorf("created again: %+v", again)
		}

		if _, err := w.store.RotateHook(t.Context(), notify.Actor{Name: "ada"}, "cloud", "acme-shop"); err != nil {
			t.Fatal(err)
		}
		if err := w.store.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.round(checkEvery)
		w.one(shop)

		// An account that was revoked is asked no more.
		if err := w.store.RevokeAuthorization(t.Context(), notify.Actor{Name: "ada"}, 1); err != nil {
			t.Fatal(err)
		}
		if n := w.round(checkEvery); n != 0 {
			t.Errorf("looked at %d with a revoked account", n)
		}
		if is := w.state(shop); is.AuthorizationID != 0 || is.State != notify.WebhookSends {
			t.Errorf("%+v", is)
		}
	})
}

// Without manage_webhooks nothing is written; what people set is found, and left
// alone.
func TestARepositorysWebhookOfPeople(t *testing.T) {
	eachCloudWorld(t, false, func(t *testing.T, w *cloudWorld) {
		w.rule(shop)
		w.round(0)
		if is := w.state(shop); is.State != notify.WebhookMissing || len(w.Webhooks("acme", "shop")) != 0 {
			t.Errorf("%+v", is)
		}
		if err := w.api.CreateOfRepository(w.ada(), "cloud", shop); !fault.Is(err, fault.Conflict) {
			t.Errorf("created: %v", err)
		}
		h, err := w.store.CreateHook(t.Context(), notify.Actor{Name: "ada"}, notify.Hook{Connection: "cloud", Name: "mine", Scope: notify.Scope{ProjectKey: "acme", RepositoryKey: "shop"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.SetWebhook(bitbucketcloud.Webhook{Workspace: "acme", Slug: "shop", URL: base + "/hooks/cloud/mine", Secret: h.Secret.Reveal()})
		w.round(troubledEvery)
		if is := w.state(shop); is.State != notify.WebhookInactive || !is.SetAt.IsZero() || !strings.Contains(is.Reason, "switched off") {
			t.Errorf("%+v", is)
		}
		is, hook, err := w.api.OfRepository(w.ada(), "cloud", shop)
		if err != nil || is.State != notify.WebhookInactive || hook == nil || hook.Name != "mine" {
			t.Errorf("%+v, %+v, %v", is, hook, err)
		}
		if _, _, err := w.api.OfRepository(w.ada(), "cloud", notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "s-hop"}); !fault.Is(err, fault.Forbidden) {
			t.Errorf("of a repository of others: %v", err)
		}
	})
}

// What the platform refuses, or does not answer, is shown in its words, and done
// as soon as it can be.
func TestARepositorysWebhookCannotBeCreated(t *testing.T) {
	eachCloudWorld(t, true, func(t *testing.T, w *cloudWorld) {
		w.Change(func(o *bitbucketcloud.Options) { o.Repository("acme", "shop").Permissions[ana] = "write" })
		w.rule(shop)
		if err := w.api.CreateOfRepository(w.ada(), "cloud", shop); !fault.Is(err, fault.Unavailable) || w.state(shop).State != notify.WebhookUnknown || w.state(shop).Reason == "" {
			t.Errorf("%v, %+v", err, w.state(shop))
		}
		w.SetFault("/2.0/", playgroundtest.Fault{Kind: playgroundtest.Broken})
		w.rule(notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "s-hop"})
		if n := w.round(troubledEvery); n != 1 { // the other one is left for the next round
			t.Errorf("looked at %d", n)
		}
		w.SetFault("/2.0/", playgroundtest.Fault{})
		w.Change(func(o *bitbucketcloud.Options) { o.Repository("acme", "shop").Permissions[ana] = "admin" })
		if err := w.api.CreateOfRepository(w.ada(), "cloud", shop); err != nil {
			t.Error(err)
		}
		w.one(shop)
		// Each look takes requests with an account that may be another user's.
		now := time.Now()
		w.api.Clock = func() time.Time { return now }
		limited := 0
		for range 11 {
			if err := w.api.CreateOfRepository(w.ada(), "cloud", shop); fault.Is(err, fault.RateLimited) {
				limited++
			}
		}
		if asked := w.Asked(""); limited == 0 || !fault.Is(w.api.CreateOfRepository(w.ada(), "cloud", shop), fault.RateLimited) || w.Asked("") != asked {
			t.Errorf("%d of 11 looks were refused", limited)
		}
	})
}

// Who administers a repository can have its webhook call another hook. It is
// never told the secret of one that speaks of more than the repository.
func TestARepositorysWebhookIsToldNoOtherSecret(t *testing.T) {
	eachCloudWorld(t, true, func(t *testing.T, w *cloudWorld) {
		wide, err := w.store.CreateHook(t.Context(), notify.Actor{Name: "root"}, notify.Hook{Connection: "cloud", Name: "workspace", Scope: notify.Scope{ProjectKey: "acme"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.rule(shop)
		w.round(0)
		first := w.one(shop)
		moved := first
		moved.URL = base + "/hooks/cloud/workspace"
		w.SetWebhook(moved)
		w.round(checkEvery)
		if there := w.Webhooks("acme", "shop"); there[0].Secret == wide.Secret.Reveal() {
			t.Fatal("the repository's webhook signs with the secret of the workspace's hook")
		}
		if again := w.one(shop); again.UUID != first.UUID || again.URL != first.URL {
			t.Errorf("it is now %+v", again)
		}
	})
}

// A secret that this node cannot read, since another sealed it with a new key, does not
// become none on the platform.
func TestARepositorysWebhookIsToldNoUnreadableSecret(t *testing.T) {
	eachCloudWorld(t, true, func(t *testing.T, w *cloudWorld) {
		w.rule(shop)
		w.round(0)
		before, there := w.state(shop), w.one(shop)
		rotateElsewhere(t, w.d, w.store, "cloud", before.Hook)
		w.round(checkEvery)
		if now := w.state(shop); now.SetAt != before.SetAt || now.SecretMark != before.SecretMark || now.State != notify.WebhookSends {
			t.Errorf("before %+v, now %+v", before, now)
		}
		if now := w.Webhooks("acme", "shop"); len(now) != 1 || now[0].Secret != there.Secret {
			t.Errorf("the platform has %+v", now)
		}
	})
}
