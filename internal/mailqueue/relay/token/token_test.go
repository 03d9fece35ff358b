package token

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue/relay"
	"outrigger/internal/playground/tokens"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

const clientSecret = "s3cret-of-the-client"

// direct asks the provider without a network.
type direct struct{ provider http.Handler }

func (d direct) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.provider.ServeHTTP(w, req)
	return w.Result(), req.Context().Err()
}

// doer is an egress.Doer.
type doer func(*http.Request) (*http.Response, error)

func (f doer) Do(req *http.Request) (*http.Response, error) { return f(req) }

func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Helper()
	dbtest.Each(t, fn, secret.Migrations, relay.Migrations)
}

// newSource is a node of this name.
func newSource(t *testing.T, d *db.DB, node string, p http.Handler, edit func(*Options)) *Source {
	t.Helper()
	leases := db.NewLeases(d, node, nil)
	if err := leases.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leases.Stop)
	o := Options{
		MailOAuth: config.MailOAuth{
			TokenURL: "https://login.example/token", ClientID: "app", ClientSecret: secret.New(clientSecret), Scope: "mail.send",
			Grant: config.ClientCredentials,
		},
		User: "box@example.com", Client: direct{p}, DB: d, Box: secrettest.Box(t, d), Leases: leases,
	}
	if edit != nil {
		edit(&o)
	}
	return New(o)
}

func newProvider(edit func(*tokens.Options)) *tokens.Provider {
	o := tokens.Options{ClientID: "app", Secret: clientSecret, Refresh: "refresh-0", Mailbox: "box@example.com"}
	if edit != nil {
		edit(&o)
	}
	return tokens.New(o)
}

func refreshing(configured string) func(*Options) {
	return func(o *Options) { o.Grant, o.RefreshToken = config.RefreshToken, secret.New(configured) }
}

func get(t *testing.T, s *Source) string {
	t.Helper()
	got, err := s.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got.Reveal()
}

// A token is asked for once by all who need it at the same time, is kept until it
// is refused, and another is not thrown away for it.
func TestATokenIsKept(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		p := newProvider(nil)
		s := newSource(t, d, "a", p, nil)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if _, err := s.Token(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		first := get(t, s)
		if p.Asked() != 1 || !p.Valid(first) {
			t.Errorf("asked %d times", p.Asked())
		}
		s.Refused(secret.New("another"))
		if get(t, s) != first {
			t.Error("a token was forgotten for the refusal of another")
		}
		for range 2 { // two sessions hear of the same refusal
			s.Refused(secret.New(first))
			if get(t, s) == first {
				t.Error("a refused token is used again")
			}
		}
		if p.Asked() != 2 {
			t.Errorf("asked %d times", p.Asked())
		}
	})
}

// A token is not used in its last minute.
func TestATokenEnds(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for life, want := range map[time.Duration]int{59 * time.Second: 2, 30 * time.Minute: 1} {
			p := newProvider(func(o *tokens.Options) { o.Life = life })
			s := newSource(t, d, "a"+life.String(), p, nil)
			get(t, s)
			get(t, s)
			if p.Asked() != want {
				t.Errorf("%s: asked %d times, want %d", life, p.Asked(), want)
			}
		}
	})
}

// What an endpoint answers that is no token is said in its words, without what
// was sent to it; and a token is had as soon as it answers with one.
func TestWhatIsNoToken(t *testing.T) {
	d := dbtest.SQLite(t, secret.Migrations, relay.Migrations)
	if err := d.Migrate(t.Context(), secret.Migrations, relay.Migrations); err != nil {
		t.Fatal(err)
	}
	const json = "application/json"
	for _, test := range []struct {
		name        string
		status      int
		kind, body  string
		want, never string
	}{
		{"invalid_client", 401, json, `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 7"}`, "login.example answered 401: invalid_client: AADSTS7000215: Invalid client secret provided. Trace ID: 7.", ""},
		{"interaction_required", 400, json, `{"error":"interaction_required","error_description":"AADSTS50076: Sign in again."}`, "answered 400: interaction_required: AADSTS50076: Sign in again.", ""},
		{"an error without words", 400, json, `{"error":"invalid_scope"}`, "answered 400: invalid_scope.", ""},
		{"200 and an error", 200, json, `{"error":"server_error","error_description":"Later"}`, "answered 200: server_error: Later.", ""},
		{"HTML", 200, "text/html", `<html>Sign in</html>`, "did not answer with a token in JSON.", "html"},
		{"HTML and 503", 503, "text/html", `<html>Away</html>`, "answered 503 Service Unavailable and said no reason.", "html"},
		{"a redirect", 302, "text/html", ``, "answered 302 Found and said no reason.", ""},
		{"nothing", 200, json, `{}`, "did not answer with a token in JSON.", ""},
		{"a token that ends at once", 200, json, `{"access_token":"t0","expires_in":0}`, "issued a token that ends at once (expires_in).", "t0"},
		{"a token that has ended", 200, json, `{"access_token":"t0","expires_in":-5}`, "issued a token that ends at once (expires_in).", "t0"},
		{"a token with a line end", 200, json, `{"access_token":"t0\r\nRSET","expires_in":3600}`, "issued a token with characters that no token may have, such as a line end.", "t0"},
		{"what was sent, sent back", 400, json, `{"error":"invalid_client","error_description":"not ` + clientSecret + ` please"}`, "not <secret> please.", clientSecret},
	} {
		t.Run(test.name, func(t *testing.T) {
			works := false
			p := newProvider(func(o *tokens.Options) {
				o.React = func(w http.ResponseWriter, _ *http.Request) bool {
					if works {
						return false
					}
					w.Header().Set("Content-Type", test.kind)
					w.Header().Set("Location", "https://evil.example/")
					w.WriteHeader(test.status)
					io.WriteString(w, test.body)
					return true
				}
			})
			s := newSource(t, d, "node of "+test.name, p, nil)
			for range 2 {
				_, err := s.Token(t.Context())
				if text := fault.As(err).Message; !fault.Is(err, fault.Unavailable) || !strings.HasPrefix(text, "No token for the smarthost: ") || !strings.HasSuffix(text, test.want) || test.never != "" && strings.Contains(text, test.never) {
					t.Errorf("%v", err)
				}
			}
			if p.Asked() != 2 {
				t.Errorf("asked %d times", p.Asked())
			}
			works = true
			if !p.Valid(get(t, s)) {
				t.Error("no token afterwards")
			}
		})
	}
}

// An endpoint that is away is named, and who waits for it can leave.
func TestAnEndpointThatIsAway(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		s := newSource(t, d, "a", nil, func(o *Options) {
			o.Client = doer(func(*http.Request) (*http.Response, error) {
				return nil, errors.New("login.example did not answer within 10s")
			})
		})
		_, err := s.Token(t.Context())
		if text := fault.As(err).Message; text != "No token for the smarthost: login.example gave no answer: login.example did not answer within 10s." {
			t.Error(text)
		}
		asked := make(chan struct{})
		answered := make(chan struct{})
		p := newProvider(func(o *tokens.Options) {
			o.React = func(http.ResponseWriter, *http.Request) bool { close(asked); <-answered; return false }
		})
		s = newSource(t, d, "b", p, nil)
		var one sync.WaitGroup
		one.Go(func() { get(t, s) })
		<-asked
		for _, node := range []*Source{s, newSource(t, d, "c", p, nil)} {
			ctx, leave := context.WithCancelCause(t.Context())
			leave(nil)
			if _, err := node.Token(ctx); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		close(answered)
		one.Wait()
	})
}

// A refresh token that the provider replaces is stored, sealed, and used by every
// node and after a restart; another one in the configuration goes before it, and
// what the provider says of one that was used is shown.
func TestRefreshTokensAreKept(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var log bytes.Buffer
		p := newProvider(nil)
		nodes := 0
		node := func(configured string) *Source { // one after the other has the same name: a restart
			nodes++
			name := "b"
			if nodes%2 == 0 {
				name = "a"
			}
			return newSource(t, d, name+strings.Repeat("x", nodes), p, func(o *Options) {
				refreshing(configured)(o)
				o.Log = slog.New(slog.NewTextHandler(&log, nil))
			})
		}
		one, two := node("refresh-0"), node("refresh-0")
		var both sync.WaitGroup
		for _, s := range []*Source{one, two} {
			both.Go(func() {
				for range 5 {
					s.Refused(secret.New(get(t, s)))
				}
			})
		}
		both.Wait()
		if p.Asked() != 10 {
			t.Errorf("asked %d times", p.Asked())
		}
		get(t, node("refresh-0"))
		sealed(t, d, p)

		// The process died before it read the answer.
		if _, err := (direct{p}).Do(mustRequest(t, "client_id=app&client_secret="+clientSecret+"&grant_type=refresh_token&refresh_token="+p.Refresh())); err != nil {
			t.Fatal(err)
		}
		if _, err := node("refresh-0").Token(t.Context()); !strings.Contains(fault.As(err).Message, "AADSTS70000: The refresh token has been used or revoked.") {
			t.Error(err)
		}
		fresh := p.Refresh() // a user agreed again
		if !p.Valid(get(t, node(fresh))) || p.Refresh() == fresh {
			t.Error("the new one was not used")
		}
		get(t, node(fresh))
		sealed(t, d, p)
		if log.Len() > 0 {
			t.Error(log.String())
		}
	})
}

func mustRequest(t *testing.T, form string) *http.Request {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), "POST", "/token", strings.NewReader(form))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return req
}

// sealed fails t where a token can be read in the database.
func sealed(t *testing.T, d *db.DB, p *tokens.Provider) {
	t.Helper()
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		var digest string
		var raw []byte
		if err := tx.QueryRow(t.Context(), `SELECT configured, token FROM relay_refresh_tokens`).Scan(&digest, &raw); err != nil {
			return err
		}
		for _, token := range append(p.Issued(), "refresh-0") {
			if bytes.Contains(raw, []byte(token)) || strings.Contains(digest, token) {
				t.Error("a token is stored in the clear")
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A provider that issues the same refresh token again, or none, has the one
// before go on.
func TestARefreshTokenThatStays(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for name, more := range map[string]string{"the same": `,"refresh_token":"refresh-0"`, "none": ""} {
			used := []string{}
			p := newProvider(func(o *tokens.Options) {
				o.React = func(w http.ResponseWriter, r *http.Request) bool {
					used = append(used, r.FormValue("refresh_token"))
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, `{"access_token":"t`+strings.Repeat("1", len(used))+`","expires_in":3600`+more+`}`)
					return true
				}
			})
			s := newSource(t, d, "node "+name, p, refreshing("refresh-0"))
			for range 3 {
				s.Refused(secret.New(get(t, s)))
			}
			if strings.Join(used, " ") != "refresh-0 refresh-0 refresh-0" {
				t.Errorf("%s: used %q", name, used)
			}
		}
	})
}

// A refresh token that cannot be stored is not lost: nothing is signed in with
// until it is, and it is the next one that is used.
func TestARefreshTokenThatCannotBeStored(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		p := newProvider(nil)
		s := newSource(t, d, "a", p, refreshing("refresh-0"))
		table := func(statement string) {
			t.Helper()
			if err := d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(t.Context(), statement); return err }); err != nil {
				t.Fatal(err)
			}
		}
		break1 := doer(func(req *http.Request) (*http.Response, error) {
			table(`ALTER TABLE relay_refresh_tokens RENAME TO away`)
			return direct{p}.Do(req)
		})
		s.o.Client = break1
		for range 2 {
			if _, err := s.Token(t.Context()); !strings.Contains(fault.As(err).Message, "could not be stored") {
				t.Fatal(err)
			}
		}
		if p.Asked() != 1 {
			t.Errorf("asked %d times", p.Asked())
		}
		table(`ALTER TABLE away RENAME TO relay_refresh_tokens`)
		s.o.Client = direct{p}
		get(t, s)
		get(t, newSource(t, d, "b", p, refreshing("refresh-0")))
	})
}

// A refresh token whose key is lost is given up, and the configured one is used.
func TestAKeyThatIsLost(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		p := newProvider(nil)
		get(t, newSource(t, d, "a", p, refreshing("refresh-0")))
		after := newSource(t, d, "b", p, refreshing("refresh-0"))
		key := bytes.Repeat([]byte{9}, secret.KeySize)
		if lost, err := secret.Forget(t.Context(), d, key, SealedPlaces()); err != nil || lost != 1 {
			t.Fatalf("%d lost, %v", lost, err)
		}
		var err error
		if after.o.Box, err = secret.Open(t.Context(), d, key, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := after.Token(t.Context()); !strings.Contains(fault.As(err).Message, "AADSTS70000") { // it was used
			t.Error(err)
		}
	})
}
