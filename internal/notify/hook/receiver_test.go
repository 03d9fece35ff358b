package hook

import (
	"bytes"
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
	"outrigger/internal/notify/store"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

const hookSecret = "hook-secret"

// server is the receiver behind a router.
type server struct {
	t      *testing.T
	db     *db.DB
	store  *store.Store
	router *rest.Router

	refusals *Refusals
}

// migrations are what the receiver's tables need.
var migrations = []db.Migrations{secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations}

// newServer is for what the database has no part in: SQLite is quicker.
func newServer(t *testing.T) *server {
	d := dbtest.SQLite(t, migrations...)
	if err := d.Migrate(t.Context(), migrations...); err != nil {
		t.Fatal(err)
	}
	return serve(t, d, 0)
}

// serve makes a receiver on a migrated database.
func serve(t *testing.T, d *db.DB, answerTime time.Duration) *server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s := &server{t: t, db: d, store: store.New(d, secrettest.Box(t, d), log)}
	s.store.UsePlatforms(connections())
	if err := s.store.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.router, err = rest.NewRouter(rest.Options{Identity: identitytest.Users{}, Log: log, BaseURL: "https://tools.example.com/outrigger"}); err != nil {
		t.Fatal(err)
	}
	s.refusals = NewRefusals(s.store, log)
	New(Options{
		Store: s.store, Clock: time.Now, Log: log, Metrics: NewMetrics(nil), AnswerTime: answerTime, Refusals: s.refusals,
	}).Register(s.router)
	return s
}

func connections() (notify.Connections, map[string]notify.Decoder) {
	decode := func(header string, body []byte, _ string) (string, []notify.Event, error) {
		key := header
		r := payload.New(body)
		for name := range r.Object {
			if string(name) == "eventKey" {
				key = r.Text()
			}
		}
		if err := cmp.Or(r.End(), notify.CheckKey(header, key)); err != nil {
			return "", nil, err
		}
		switch key {
		case "push":
			return key, []notify.Event{*pushTo("ATL", "canoe")}, nil
		case "silent":
			return key, nil, nil
		case "odd":
			return key, nil, notify.NotUnderstood("no repository")
		}
		return key, nil, notify.ErrUnknownKey
	}
	return notify.Connections{
		{Name: "dc", Kind: "played", Secrets: []secret.Value{secret.New(hookSecret)}},
		{Name: "open", Kind: "played", Unsigned: true},
		{Name: "bare", Kind: "played"},
	}, map[string]notify.Decoder{"played": decode}
}

func pushTo(project, repository string) *notify.Event {
	return &notify.Event{
		Types: []notify.EventType{notify.BranchUpdated}, Key: "push", Actor: notify.User{Name: "ada"},
		Project: notify.Project{Key: project}, Repository: notify.Repository{Key: repository}, Branch: "main",
	}
}

func (s *server) hook(connection, key, signature, id string, body []byte) int {
	s.t.Helper()
	return s.post(connection, key, signature, id, body).Code
}

func (s *server) post(connection, key, signature, id string, body []byte) *httptest.ResponseRecorder {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, s.request(connection, key, signature, id, body))
	return w
}

func (s *server) request(connection, key, signature, id string, body []byte) *http.Request {
	r := httptest.NewRequestWithContext(s.t.Context(), "POST", "/outrigger/hooks/"+connection, bytes.NewReader(body))
	if key != "" {
		r.Header.Set("X-Event-Key", key)
	}
	if signature != "" {
		r.Header.Set(SignatureHeader, signature)
	}
	r.Header.Set("X-Request-Id", id)
	return r
}

func TestHookStatuses(t *testing.T) {
	s := newServer(t)
	key := secret.New(hookSecret)
	json, push := []byte(`{"a":1}`), []byte(`{"eventKey":"push"}`)
	deep := bytes.Repeat([]byte("["), 101)
	deep = append(deep, bytes.Repeat([]byte("]"), 101)...)
	huge := bytes.Repeat([]byte(" "), maxWebhook+1)
	cases := []struct {
		name, connection, key, signature string
		body                             []byte
		want                             int
	}{
		{"understood", "dc", "push", Sign(json, key), json, 202},
		{"silent", "dc", "silent", Sign(json, key), json, 202},
		{"an unknown key", "dc", "pr:invented", Sign(json, key), json, 202},
		{"not understood", "dc", "odd", Sign(json, key), json, 202},
		{"the ping is not signed", "dc", "diagnostics:ping", "", []byte(`{"test": true}`), 200},
		{"a test without a key is not signed", "dc", "", "", []byte(`{"test": true}`), 200},
		{"a test without a key that is signed", "dc", "", Sign([]byte(`{"test": true}`), key), []byte(`{"test": true}`), 200},
		{"a body without a key is no test", "dc", "", "", json, 401},
		{"a test where nothing is signed", "open", "", "", []byte(`{"test": true}`), 200},
		{"no signature", "dc", "push", "", json, 401},
		{"another body's signature", "dc", "push", Sign([]byte("{}"), key), json, 401},
		{"a short signature", "dc", "push", "sha", json, 401},
		{"no secret configured", "bare", "push", Sign(json, key), json, 401},
		{"unsigned, where that was said", "open", "push", "", json, 202},
		{"an unknown connection", "cloud", "push", "", json, 404},
		{"not JSON", "dc", "push", Sign([]byte("hello"), key), []byte("hello"), 400},
		{"cut off", "dc", "push", Sign([]byte(`{"a":`), key), []byte(`{"a":`), 400},
		{"empty", "dc", "push", Sign(nil, key), nil, 400},
		{"not UTF-8", "dc", "push", Sign([]byte("{\"a\":\"\xff\"}"), key), []byte("{\"a\":\"\xff\"}"), 400},
		{"nested over 100 deep", "dc", "push", Sign(deep, key), deep, 400},
		{"the header says what the body says", "dc", "push", Sign(push, key), push, 202},
		{"the header says nothing", "dc", "", Sign(push, key), push, 202},
		{"the header says something else", "dc", "silent", Sign(push, key), push, 400},
		{"over 10 MiB", "dc", "push", Sign(huge, key), huge, 413},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := s.hook(c.connection, c.key, c.signature, fmt.Sprint(i), c.body); got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
		})
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/outrigger/hooks/dc", nil))
	if w.Code != 405 {
		t.Errorf("GET: %d, want 405", w.Code)
	}
}

func TestHookWithoutADatabase(t *testing.T) {
	s := newServer(t)
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	body := []byte(`{}`)
	if got := s.hook("dc", "push", Sign(body, secret.New(hookSecret)), "1", body); got != 503 {
		t.Errorf("status %d, want 503", got)
	}
}
