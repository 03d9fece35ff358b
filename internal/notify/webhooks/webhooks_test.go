package webhooks

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
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
	"outrigger/internal/notify/bitbucketdc"
	"outrigger/internal/notify/bitbucketdc/client"
	"outrigger/internal/notify/store"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

const base = "https://tools.example.com/outrigger"

// world is a played platform and a node that looks at it. The connection "main"
// may create webhooks, "read" may not.
type world struct {
	*playgroundtest.Bitbucket
	t     *testing.T
	d     *db.DB
	url   string
	now   time.Time
	store *store.Store
	watch *Watch
	api   *admin.Webhooks
}

func eachWorld(t *testing.T, o bitbucket.Options, fn func(t *testing.T, w *world)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := &world{t: t, d: d, now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
		o := o
		o.Token, o.Clock = "right", w.clock
		w.Bitbucket = playgroundtest.NewBitbucket(o)
		server := httptest.NewServer(w.Handler())
		t.Cleanup(server.Close)
		w.url = server.URL
		log := slog.New(slog.DiscardHandler)
		w.store = store.New(d, secrettest.Box(t, d), log)
		w.store.UsePlatforms(notify.Connections{
			{Name: "main", Kind: "bitbucket-dc", BaseURL: w.url, Token: secret.New("right"), ManageWebhooks: true, Secrets: []secret.Value{secret.New("own")}},
		}, map[string]notify.Decoder{"bitbucket-dc": bitbucketdc.Decode})
		if err := w.store.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		leases := dbtest.Leases(t, d, "node_1")
		out := egresstest.Client(t)
		w.watch = New(Options{Store: w.store, Platform: client.New(out.Trusted(), w.clock), BaseURL: base, Leases: leases, Clock: w.clock, Log: log})
		w.api = &admin.Webhooks{Store: w.store, Check: w.watch.Check}
		fn(t, w)
	}, secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
}

func (w *world) clock() time.Time { return w.now }

func (w *world) root() context.Context {
	return identity.With(w.t.Context(), &identity.Principal{Name: "root", Source: identity.Local, Grants: []identity.Grant{{Permission: identity.SysAdmin}}})
}

// round lets time pass and looks at what is due then.
func (w *world) round(d time.Duration) int {
	w.t.Helper()
	w.now = w.now.Add(d)
	looked, err := w.watch.runOnce(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return looked
}

func (w *world) webhook(project string) notify.ProjectWebhook {
	w.t.Helper()
	p, err := w.store.Webhook(w.t.Context(), "main", project)
	if err != nil || p == nil {
		w.t.Fatalf("%s: %v, %v", project, p, err)
	}
	return *p
}

func (w *world) coverage() notify.Coverage {
	w.t.Helper()
	all, err := w.api.Coverage(w.root())
	if err != nil || len(all) != 1 {
		w.t.Fatal(all, err)
	}
	return all[0]
}

// readOnly makes the connection one that does not create webhooks.
func (w *world) readOnly() {
	w.t.Helper()
	file := notify.Connections{{Name: "main", Kind: "bitbucket-dc", BaseURL: w.url, Token: secret.New("right")}}
	w.store.UsePlatforms(file, map[string]notify.Decoder{"bitbucket-dc": bitbucketdc.Decode})
	// Any change of a hook has the platforms read again.
	if _, err := w.store.CreateHook(w.t.Context(), notify.Actor{Name: "ada"}, notify.Hook{Connection: "main", Name: "atl", Scope: notify.Scope{ProjectKey: "ATL"}}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.Load(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

var three = bitbucket.Options{Projects: []bitbucket.Project{{Key: "ATL", Name: "Atlas"}, {Key: "SHOP"}, {Key: "S_HOP"}}}

// A webhook is created in every project, which calls a hook of its own with its
// secret; the next day they are only looked at.
func TestWebhooksAreCreated(t *testing.T) {
	eachWorld(t, three, func(t *testing.T, w *world) {
		if n := w.round(0); n != 3 {
			t.Errorf("looked at %d", n)
		}
		for _, project := range []string{"ATL", "SHOP", "S_HOP"} {
			there := w.Webhooks(project)
			if len(there) != 1 || !there[0].Active || len(there[0].Events) != 22 {
				t.Fatalf("%s: %+v", project, there)
			}
			name, ok := notify.HookCalled(base, "main", there[0].URL)
			h, _ := w.store.Platforms().Hook("main", name)
			if !ok || h == nil || h.Scope != (notify.Scope{ProjectKey: project}) || h.Secret.Reveal() != there[0].Secret || h.CreatedBy != "outrigger" {
				t.Errorf("%s calls %q: %+v", project, there[0].URL, h)
			}
			if p := w.webhook(project); p.State != notify.WebhookSends || p.Hook != name || p.ID != there[0].ID || p.SetAt.IsZero() || p.Reason != "" {
				t.Errorf("%+v", p)
			}
		}
		if c := w.coverage(); c.Projects != 3 || c.Sending != 3 || c.Failing != 0 || c.Reason != "" || !c.CheckedAt.Equal(w.now) {
			t.Errorf("%+v", c)
		}
		posts := w.Asked("POST ")
		if n := w.round(time.Hour); n != 0 {
			t.Errorf("looked at %d again within the hour", n)
		}
		if n := w.round(checkEvery); n != 3 || w.Asked("POST ") != posts || len(w.Webhooks("ATL")) != 1 {
			t.Errorf("looked at %d, created %d", n, w.Asked("POST ")-posts)
		}
	})
}

// A new project has its webhook within the hour, one that was deleted is
// there again within a day, and a project that is gone is gone.
func TestWebhooksAreKept(t *testing.T) {
	eachWorld(t, bitbucket.Options{Projects: three.Projects[:1]}, func(t *testing.T, w *world) {
		w.round(0)
		w.Change(func(o *bitbucket.Options) { o.Projects = append(o.Projects, bitbucket.Project{Key: "NEW"}) })
		w.round(listEvery)
		if len(w.Webhooks("NEW")) != 1 {
			t.Error("the new project has no webhook")
		}
		w.DeleteWebhooks("ATL")
		w.round(checkEvery)
		if len(w.Webhooks("ATL")) != 1 {
			t.Error("the deleted webhook is not there again")
		}
		hook, _ := notify.HookCalled(base, "main", w.Webhooks("ATL")[0].URL)
		if _, err := w.store.RotateHook(t.Context(), notify.Actor{Name: "ada"}, "main", hook); err != nil {
			t.Fatal(err)
		}
		if err := w.store.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		h, _ := w.store.Platforms().Hook("main", hook)
		w.round(checkEvery)
		if there := w.Webhooks("ATL"); len(there) != 1 || there[0].Secret != h.Secret.Reveal() {
			t.Error("the platform has not the new secret")
		}
		w.Move("ATL", "ATLAS")
		w.round(listEvery)
		if p, err := w.store.Webhook(t.Context(), "main", "ATL"); p != nil || err != nil {
			t.Errorf("the project that is gone: %+v, %v", p, err)
		}
	})
}

// A secret that this node cannot read, since another sealed it with a new key, does not
// become none on the platform.
func TestAWebhookIsToldNoUnreadableSecret(t *testing.T) {
	eachWorld(t, bitbucket.Options{Projects: three.Projects[:1]}, func(t *testing.T, w *world) {
		w.round(0)
		before := w.webhook("ATL")
		rotateElsewhere(t, w.d, w.store, "main", before.Hook)
		w.round(checkEvery)
		if now := w.webhook("ATL"); now.SetAt != before.SetAt || now.SecretMark != before.SecretMark || now.State != notify.WebhookSends {
			t.Errorf("before %+v, now %+v", before, now)
		}
	})
}

// rotateElsewhere has a node rotate a hook that has a new key already.
func rotateElsewhere(t *testing.T, d *db.DB, here *store.Store, connection, hook string) {
	t.Helper()
	box, err := secret.Open(t.Context(), d, bytes.Repeat([]byte{8}, secret.KeySize), bytes.Repeat([]byte{7}, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	restarted := store.New(d, box, slog.New(slog.DiscardHandler))
	restarted.UsePlatforms(here.Platforms().Connections, nil)
	if err := restarted.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := restarted.RotateHook(t.Context(), notify.Actor{Name: "ada"}, connection, hook); err != nil {
		t.Fatal(err)
	}
	if err := here.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// An old platform refuses a webhook for an event that it does not know.
func TestAnOldPlatform(t *testing.T) {
	eachWorld(t, bitbucket.Options{Projects: three.Projects[:1], UnknownEvents: []string{"project:modified"}}, func(t *testing.T, w *world) {
		w.round(0)
		if there := w.Webhooks("ATL"); len(there) != 1 || len(there[0].Events) != 20 || slices.Contains(there[0].Events, "project:modified") {
			t.Errorf("%+v", there)
		}
	})
}

// Without manage_webhooks nothing is written to the platform, and it is said
// which projects send their events here, and why others do not.
func TestOnlyLooking(t *testing.T) {
	var o bitbucket.Options
	for _, key := range []string{"ATL", "OWN", "NONE", "OTHER", "SCOPE", "GONE", "OFF"} {
		o.Projects = append(o.Projects, bitbucket.Project{Key: key})
	}
	eachWorld(t, o, func(t *testing.T, w *world) {
		w.readOnly()
		for project, url := range map[string]string{
			"ATL": base + "/hooks/main/atl/", "OWN": base + "/hooks/main", "OTHER": "https://ci.example.com/hooks/main", "SCOPE": base + "/hooks/main/atl",
			"GONE": base + "/hooks/main/gone", "OFF": base + "/hooks/main",
		} {
			w.PutWebhook(bitbucket.Webhook{Project: project, Name: "x", URL: url, Active: project != "OFF"})
		}
		w.round(0)
		for project, want := range map[string]struct {
			state  notify.WebhookState
			reason string
		}{
			"ATL": {notify.WebhookSends, ""}, "OWN": {notify.WebhookSends, ""}, "NONE": {notify.WebhookMissing, ""}, "OTHER": {notify.WebhookMissing, ""},
			"SCOPE": {notify.WebhookMissing, "which is for project ATL"}, "GONE": {notify.WebhookMissing, "which does not exist"},
			"OFF": {notify.WebhookInactive, "switched off"},
		} {
			if p := w.webhook(project); p.State != want.state || !strings.Contains(p.Reason, want.reason) || (want.reason == "") != (p.Reason == "") {
				t.Errorf("%s: %s, %q", project, p.State, p.Reason)
			}
		}
		if c := w.coverage(); c.Projects != 7 || c.Sending != 2 {
			t.Errorf("%+v", c)
		}
		if n := w.Asked("POST ") + w.Asked("PUT "); n != 0 {
			t.Errorf("%d requests wrote to the platform", n)
		}
		if _, err := w.api.Create(w.root(), "main", "NONE"); !fault.Is(err, fault.Conflict) {
			t.Errorf("created all the same: %v", err)
		}
	})
}

// What the platform counts is kept; a webhook that fails is looked at every
// hour, and counted.
func TestHealthIsKept(t *testing.T) {
	eachWorld(t, bitbucket.Options{Projects: three.Projects[:1]}, func(t *testing.T, w *world) {
		w.round(0)
		there := w.Webhooks("ATL")[0]
		there.Successes, there.Failures, there.LastSuccess, there.LastFailure, there.LastAnswer = 5, 2, w.now, w.now.Add(time.Minute), "401"
		w.PutWebhook(there)
		w.round(checkEvery)
		p := w.webhook("ATL")
		if !p.Failing() || p.Health.Successes != 5 || p.Health.Failures != 2 || p.Health.Answer != "401" || w.coverage().Failing != 1 {
			t.Errorf("%+v", p)
		}
		there.LastSuccess = w.now.Add(time.Hour)
		w.PutWebhook(there)
		w.round(troubledEvery)
		if p := w.webhook("ATL"); p.Failing() || w.coverage().Failing != 0 {
			t.Errorf("it is well again: %+v", p)
		}
	})
}

// A project that the account does not administer holds up no other; a platform
// that does not answer is left alone, and it is said why.
func TestRefusals(t *testing.T) {
	eachWorld(t, three, func(t *testing.T, w *world) {
		w.SetFault("/projects/ATL/", playgroundtest.Fault{Kind: playgroundtest.Withholding})
		if n := w.round(0); n != 3 {
			t.Errorf("looked at %d", n)
		}
		if p := w.webhook("ATL"); p.State != notify.WebhookUnknown || !strings.Contains(p.Reason, "401 Unauthorized, You are not permitted") {
			t.Errorf("%+v", p)
		}
		if p := w.webhook("SHOP"); p.State != notify.WebhookSends {
			t.Errorf("%+v", p)
		}
		w.SetFault("/projects/ATL/", playgroundtest.Fault{})
		w.SetFault("", playgroundtest.Fault{Kind: playgroundtest.Proxied})
		before := w.Asked("")
		w.round(listEvery)
		if c := w.coverage(); c.Projects != 3 || c.Sending != 2 || !strings.Contains(c.Reason, "is not the platform") || c.CheckedAt.Equal(w.now) || w.Asked("") != before+1 {
			t.Errorf("%+v, asked %d times", c, w.Asked("")-before)
		}
		w.round(failedFor / 2)
		if n := w.Asked("") - before; n != 1 {
			t.Errorf("asked %d times", n)
		}
		w.SetFault("", playgroundtest.Fault{})
		w.round(failedFor)
		if c := w.coverage(); c.Sending != 3 || c.Reason != "" {
			t.Errorf("%+v", c)
		}
	})
}

// Of many projects some are looked at in each round.
func TestManyProjects(t *testing.T) {
	var o bitbucket.Options
	for i := range 50 {
		o.Projects = append(o.Projects, bitbucket.Project{Key: fmt.Sprintf("P%02d", i)})
	}
	eachWorld(t, o, func(t *testing.T, w *world) {
		w.readOnly()
		if a, b, c, d := w.round(0), w.round(every), w.round(every), w.round(every); a != 20 || b != 20 || c != 10 || d != 0 {
			t.Errorf("looked at %d, %d, %d, %d", a, b, c, d)
		}
		list, err := w.api.List(w.root(), "main", "P09", 3)
		if err != nil || len(list) != 3 || list[0].Project.Key != "P10" {
			t.Errorf("%+v, %v", list, err)
		}
		if err := w.api.CheckAll(w.root(), "main"); err != nil {
			t.Fatal(err)
		}
		if n := w.round(0); n != 20 {
			t.Errorf("looked at %d when asked to", n)
		}
	})
}

// A person has a webhook created at once, in their own name.
func TestCreateByHand(t *testing.T) {
	eachWorld(t, three, func(t *testing.T, w *world) {
		w.SetFault("POST ", playgroundtest.Fault{Kind: playgroundtest.Forbidding})
		w.round(0)
		if _, err := w.api.Create(w.root(), "main", "ATL"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "not permitted") {
			t.Errorf("%v", err)
		}
		w.SetFault("POST ", playgroundtest.Fault{})
		p, err := w.api.Create(w.root(), "main", "atl")
		if err != nil || p.State != notify.WebhookSends || len(w.Webhooks("ATL")) != 1 {
			t.Fatalf("%+v, %v", p, err)
		}
		var by string
		if err := w.d.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT who FROM audit_entries WHERE object = 'webhook' AND project = 'ATL'`).Scan(&by)
		}); err != nil || by != "root" {
			t.Errorf("created by %q, %v", by, err)
		}
		if _, err := w.api.Create(w.root(), "main", "NONE"); !fault.Is(err, fault.NotFound) {
			t.Errorf("no such project: %v", err)
		}
		w.watch.Local = true
		if _, err := w.api.Create(w.root(), "main", "SHOP"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "set base_url") {
			t.Errorf("nobody can reach this program: %v", err)
		}
		nobody := identity.With(t.Context(), &identity.Principal{Name: "x", Grants: []identity.Grant{{Permission: identity.Admin}}})
		if _, err := w.api.Create(nobody, "main", "SHOP"); !fault.Is(err, fault.Forbidden) {
			t.Errorf("no SYS_ADMIN: %v", err)
		}
	})
}

// A project that the platform's list has no more while its webhook is created is not found.
func TestAProjectThatGoesMeanwhile(t *testing.T) {
	eachWorld(t, three, func(t *testing.T, w *world) {
		w.round(0)
		w.api.Check = func(ctx context.Context, _ *notify.Connection, _ notify.ProjectWebhook) (bool, error) {
			return true, w.store.ReplaceProjects(ctx, "main", nil, w.now.Add(time.Second))
		}
		if p, err := w.api.Create(w.root(), "main", "ATL"); p != nil || !fault.Is(err, fault.NotFound) {
			t.Errorf("%v, %v", p, err)
		}
	})
}
