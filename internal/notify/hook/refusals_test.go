package hook

import (
	"fmt"
	"testing"

	"outrigger/internal/dbtest"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// What a known connection refuses is counted by hook and reason, whatever a
// stranger makes up; what names no connection of ours is not.
func TestRefusedWebhooksAreToldOf(t *testing.T) {
	d := dbtest.SQLite(t, migrations...)
	if err := d.Migrate(t.Context(), migrations...); err != nil {
		t.Fatal(err)
	}
	s := serve(t, d, 0)
	right, wrong, body := secret.New(hookSecret), secret.New("wrong"), []byte(`{"eventKey":"push"}`)
	pac, err := s.store.CreateHook(t.Context(), notify.Actor{Name: "root"}, notify.Hook{Connection: "dc", Name: "pac", Scope: notify.Scope{ProjectKey: "PAC"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		s.hook("dc", "push", Sign(body, wrong), fmt.Sprint("wrong", i), body)
	}
	s.hook("dc", "push", Sign([]byte("hello"), right), "not JSON", []byte("hello"))
	s.hook("dc/pac", "push", Sign(body, pac.Secret), "outside the scope", body)
	s.hook("bare", "push", Sign(body, wrong), "no secret", body)
	for i := range 500 {
		s.hook(fmt.Sprintf("dc/none-%d", i), "push", Sign(body, wrong), fmt.Sprint("none", i), body)
		s.hook(fmt.Sprintf("elsewhere-%d", i), "push", Sign(body, wrong), fmt.Sprint("elsewhere", i), body)
	}
	s.hook("dc", "diagnostics:ping", "", "ping", body)
	s.hook("dc", "push", Sign(body, right), "taken", body)
	if n := len(s.refusals.counts); n != 5 {
		t.Errorf("%d counts are held, want 5", n)
	}
	if err := s.refusals.runOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := s.store.Refused(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[notify.RefusalKey]int{}
	for _, r := range list {
		got[r.RefusalKey] = r.Count
		if r.LastBy != "192.0.2.1" || r.Message == "" {
			t.Errorf("%v: last from %q, answered %q", r.RefusalKey, r.LastBy, r.Message)
		}
		if came := r.Connection == "dc" && r.Hook == ""; r.Alone == came {
			t.Errorf("%v: alone %v; an event came in by the connection's own hook only", r.RefusalKey, r.Alone)
		}
	}
	want := map[notify.RefusalKey]int{
		{Connection: "dc", Reason: notify.RefusedSignature}:          12,
		{Connection: "dc", Reason: notify.RefusedBody}:               1,
		{Connection: "dc", Reason: notify.RefusedHook}:               500,
		{Connection: "dc", Hook: "pac", Reason: notify.RefusedScope}: 1,
		{Connection: "bare", Reason: notify.RefusedNoSecret}:         1,
	}
	if len(got) != len(want) {
		t.Errorf("refused: %v, want %v", got, want)
	}
	for key, n := range want {
		if got[key] != n {
			t.Errorf("%v: %d, want %d", key, got[key], n)
		}
	}
}

// What cannot be written stays counted.
func TestRefusalsOutliveTheDatabase(t *testing.T) {
	s := newServer(t)
	body := []byte(`{}`)
	s.hook("dc", "push", "", "1", body)
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.refusals.runOnce(t.Context()); err == nil {
		t.Fatal("written without a database")
	}
	s.hook("dc", "push", "", "2", body)
	if list := s.refusals.take(); len(list) != 1 || list[0].Count != 2 {
		t.Errorf("%+v, want 2 of one kind", list)
	}
}
