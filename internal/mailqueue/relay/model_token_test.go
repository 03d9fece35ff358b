package relay

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/config"
	bearer "outrigger/internal/mailqueue/relay/token"
	"outrigger/internal/playground/tokens"
	"outrigger/internal/secret"
)

// modelTokens are the tokens of a model: its process keeps one, or none.
type modelTokens struct {
	provider *tokens.Provider
	box      *secret.Box
	source   *bearer.Source
	kept     string // in memory
	revoked  bool   // the application's secret is
	dies     bool   // the process does, before it has read an answer
}

func newModelTokens(box *secret.Box, consent string) *modelTokens {
	k := &modelTokens{box: box, provider: tokens.New(tokens.Options{ClientID: "app", Secret: "right", Refresh: consent})}
	k.provider.SetLenient(true)
	return k
}

// Do has the provider asked without a network.
func (k *modelTokens) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	k.provider.ServeHTTP(w, req)
	if k.dies {
		return nil, errors.New("nobody reads this")
	}
	return w.Result(), nil
}

// begin is a process that knows what is configured and what is stored.
func (k *modelTokens) begin(m *machine) {
	k.kept = ""
	k.source = bearer.New(bearer.Options{
		MailOAuth: config.MailOAuth{
			TokenURL: "https://login.example/token", ClientID: "app", ClientSecret: secret.New("right"), Grant: config.RefreshToken,
			RefreshToken: secret.New("consent of " + m.node),
		},
		Client: k, DB: m.db, Box: k.box, Leases: m.leases,
	})
}

// signIn has a token shown: the one that is kept, else a new one, else there is
// none, in the provider's words.
func (m *machine) signIn(t *rapid.T) {
	k := m.tokens
	got, err := k.source.Token(t.Context())
	switch {
	case k.kept != "" && (err != nil || got.Reveal() != k.kept):
		t.Fatalf("the token that is kept is not used: %v", err)
	case k.kept == "" && k.revoked && (err == nil || !strings.Contains(err.Error(), "AADSTS7000215")):
		t.Fatalf("without a secret: %v", err)
	case k.kept == "" && !k.revoked && (err != nil || !k.provider.Valid(got.Reveal())):
		t.Fatalf("no token is had: %v", err)
	}
	k.kept = got.Reveal()
}

// endToken has the smarthost refuse the token.
func (m *machine) endToken(*rapid.T) {
	m.tokens.provider.EndTokens()
	m.tokens.source.Refused(secret.New(m.tokens.kept))
	m.tokens.kept = ""
}

func (m *machine) revoke(*rapid.T) {
	k := m.tokens
	k.revoked = !k.revoked
	k.provider.SetSecret(map[bool]string{true: "", false: "right"}[k.revoked])
}

// dieAsking has the process die after the provider has replaced the refresh token,
// and before it knows.
func (m *machine) dieAsking(t *rapid.T) {
	m.endToken(t)
	m.tokens.dies = true
	if _, err := m.tokens.source.Token(t.Context()); err == nil {
		t.Fatal("an answer that nobody read has a token")
	}
	m.tokens.dies = false
	m.crash(t)
}

// hold has sending pause for some time, or go on.
func (m *machine) hold(t *rapid.T) {
	m.held = rapid.SampledFrom([]string{"", "No token for the smarthost.", "The smarthost cannot be reached."}).Draw(t, "why")
	until := time.Time{}
	if m.held != "" {
		until = time.Now().Add(time.Hour)
	}
	m.must(m.q.noteHold(t.Context(), until, m.held, false))
}

// heldFor is why lists say that mail waits.
func (m *machine) heldFor(t *rapid.T) string {
	list, err := m.q.Queues(t.Context())
	m.must(err)
	for _, q := range list {
		if q.NodeID == m.node {
			return q.HeldFor
		}
	}
	return ""
}
