package webhooks

import (
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucket"
)

var twoProjects = bitbucket.Options{Projects: []bitbucket.Project{{ID: 7, Key: "ATL", Name: "Atlas"}, {ID: 8, Key: "SHOP"}}}

// offer has the hook of a project say that the project has another key.
func (w *world) offer(from, to string) {
	w.t.Helper()
	hook, _ := notify.HookCalled(base, "main", w.Webhooks(from)[0].URL)
	h, _ := w.store.Platforms().Hook("main", hook)
	e := notify.Event{
		Types: []notify.EventType{notify.ProjectFieldEdited}, Connection: "main", Project: notify.Project{Key: to},
		Changes: []notify.Change{{Field: "key", Old: from, New: to}},
	}
	if err := w.store.Accept(w.t.Context(), &notify.Receipt{
		Connection: "main", Hook: h.Name, HookID: h.ID, Key: "project:modified", RequestID: from + to, ReceivedAt: w.now,
		Outcome: notify.Understood, Events: []notify.Event{e}, Digest: []byte(from + to),
	}); err != nil {
		w.t.Fatal(err)
	}
	w.wantOffered(1)
}

func (w *world) wantOffered(n int) {
	w.t.Helper()
	list, err := w.store.OfferedRenames(w.t.Context(), 0, 10)
	if err != nil || len(list) != n {
		w.t.Errorf("offered %+v, %v; want %d", list, err, n)
	}
}

// A rename that the platform shows by the project's id needs no confirmation, and
// the webhook that goes on calling the same hook is the project's under its new
// key.
func TestTheIDConfirmsARename(t *testing.T) {
	eachWorld(t, twoProjects, func(t *testing.T, w *world) {
		w.round(0)
		w.offer("ATL", "ATLAS")
		w.Move("ATL", "ATLAS")
		w.round(listEvery)
		w.wantOffered(0)
		if err := w.store.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if h, _ := w.store.Platforms().Hook("main", "atl"); h == nil || h.Scope.ProjectKey != "ATLAS" {
			t.Errorf("the hook's scope: %+v", h)
		}
		w.round(checkEvery)
		if p := w.webhook("ATLAS"); p.State != notify.WebhookSends || p.Hook != "atl" || len(w.Webhooks("ATLAS")) != 1 {
			t.Errorf("%+v, %d webhooks", p, len(w.Webhooks("ATLAS")))
		}
	})
}

// A webhook that says what the platform does not show stays an offer: the old
// key is still there, or the new one is another project's.
func TestARenameThatThePlatformDoesNotShow(t *testing.T) {
	for name, platform := range map[string]func(*world){
		"nothing happened": func(*world) {},
		"another project": func(w *world) {
			w.Change(func(o *bitbucket.Options) { o.Projects = append(o.Projects, bitbucket.Project{ID: 9, Key: "ATLAS"}) })
		},
		"moved elsewhere": func(w *world) {
			w.Move("ATL", "OTHER")
			w.Change(func(o *bitbucket.Options) { o.Projects = append(o.Projects, bitbucket.Project{ID: 9, Key: "ATLAS"}) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, twoProjects, func(t *testing.T, w *world) {
				w.round(0)
				w.offer("ATL", "ATLAS")
				platform(w)
				w.round(listEvery)
				w.wantOffered(1)
			})
		})
	}
}

// A project whose webhook calls a hook of the old key gets no second webhook.
func TestARenamedProjectHasOneWebhook(t *testing.T) {
	eachWorld(t, twoProjects, func(t *testing.T, w *world) {
		w.round(0)
		w.Move("ATL", "ATLAS") // and no webhook said so
		w.round(listEvery)
		if p := w.webhook("ATLAS"); p.State != notify.WebhookMissing || p.Reason == "" || len(w.Webhooks("ATLAS")) != 1 {
			t.Errorf("%+v, %d webhooks", p, len(w.Webhooks("ATLAS")))
		}
	})
}
