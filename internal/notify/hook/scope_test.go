package hook

import (
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// A hook of a project takes what its own secret signs, about its own scope, also
// right after another node made it, rotated its secret or deleted it.
func TestAHookHasASecretAndAScope(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		here, there := serve(t, d, 0), serve(t, d, 0)
		who := notify.Actor{Name: "root"}
		body := []byte(`{"eventKey":"push"}`) // of ATL
		post := func(path, id string, key secret.Value, want int) {
			t.Helper()
			if got := here.hook(path, "push", Sign(body, key), id, body); got != want {
				t.Errorf("%s, %s: status %d, want %d", path, id, got, want)
			}
		}
		create := func(name, project string) secret.Value {
			t.Helper()
			h, err := there.store.CreateHook(t.Context(), who, notify.Hook{Connection: "dc", Name: name, Scope: notify.Scope{ProjectKey: project}})
			if err != nil {
				t.Fatal(err)
			}
			return h.Secret
		}
		if d.Dialect() == db.SQLite {
			there = here // has no other nodes
		}
		atl, pac := create("atl", "ATL"), create("pac", "PAC")
		post("dc/atl", "its own", atl, 202)
		post("dc/atl", "another's secret", pac, 401)
		post("dc/atl", "the connection's secret", secret.New(hookSecret), 401)
		post("dc", "of a hook, at the connection", atl, 401)
		post("dc/pac", "outside the scope", pac, 403)
		post("dc/none", "nowhere", atl, 404)
		before := here.events()
		post("dc", "the same by another hook", secret.New(hookSecret), 202)
		if n := here.events(); n != before {
			t.Errorf("%d events after the same body came by a second hook, want %d", n, before)
		}
		rotated, err := there.store.RotateHook(t.Context(), who, "dc", "atl")
		if err != nil {
			t.Fatal(err)
		}
		post("dc/atl", "the new secret", rotated.Secret, 202)
		post("dc/atl", "the old secret", atl, 202)
		if err := there.store.DeleteHook(t.Context(), who, "dc", "atl"); err != nil {
			t.Fatal(err)
		}
		post("dc/atl", "deleted", rotated.Secret, 404)
	}, migrations...)
}
