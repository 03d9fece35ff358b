package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func request(state string, user, session int64) notify.AuthorizationRequest {
	return notify.AuthorizationRequest{
		State: secret.New(state), Connection: "cloud", UserID: user, Session: session, Verifier: secret.New("verifier of " + state), Back: "/notifications/cloud",
		MadeAt: noon, ExpiresAt: noon.Add(10 * time.Minute),
	}
}

// A request is given to who made it, in the session that made it, in its time
// and once.
func TestARequestIsTakenOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		for _, r := range []notify.AuthorizationRequest{request("of a session", 1, 7), request("of a token", 1, 0)} {
			if err := s.KeepRequest(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			name, connection, state string
			user, session           int64
			after                   time.Duration
		}{
			{"forged", "cloud", "forged", 1, 7, 0},
			{"empty", "cloud", "", 1, 7, 0},
			{"of no text as a connection", "clo\x00ud\xff", "of a session", 1, 7, 0},
			{"of another connection", "other", "of a session", 1, 7, 0},
			{"of another user", "cloud", "of a session", 2, 7, 0},
			{"of another session", "cloud", "of a session", 1, 8, 0},
			{"of another user's token", "cloud", "of a token", 2, 9, 0},
			{"over", "cloud", "of a session", 1, 7, 10 * time.Minute},
		} {
			if r, err := s.TakeRequest(t.Context(), c.connection, secret.New(c.state), c.user, c.session, noon.Add(c.after)); !fault.Is(err, fault.Invalid) || !r.Verifier.IsZero() {
				t.Errorf("a state that is %s: %+v, %v", c.name, r, err)
			}
		}
		for state, session := range map[string]int64{"of a session": 7, "of a token": 9} {
			r, err := s.TakeRequest(t.Context(), "cloud", secret.New(state), 1, session, noon.Add(9*time.Minute))
			if err != nil || r.Verifier.Reveal() != "verifier of "+state || r.Back != "/notifications/cloud" {
				t.Errorf("%s: %+v, %v", state, r, err)
			}
			if _, err := s.TakeRequest(t.Context(), "cloud", secret.New(state), 1, session, noon); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s, a second time: %v", state, err)
			}
		}
	})
}

// The latest requests of a user are kept, those that are over are not.
func TestRequestsAreFew(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		keep := func(r notify.AuthorizationRequest) {
			t.Helper()
			if err := s.KeepRequest(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		keep(request("of another", 2, 7))
		for i := range notify.MaxRequests + 5 {
			r := request(fmt.Sprint("state ", i), 1, 7)
			r.MadeAt = noon.Add(time.Duration(i) * time.Second)
			keep(r)
		}
		if n := countRows(t, s, "notify_authorization_requests"); n != notify.MaxRequests+1 {
			t.Errorf("%d requests are kept", n)
		}
		if _, err := s.TakeRequest(t.Context(), "cloud", secret.New("state 4"), 1, 7, noon); !fault.Is(err, fault.Invalid) {
			t.Errorf("the oldest: %v", err)
		}
		if _, err := s.TakeRequest(t.Context(), "cloud", secret.New("state 24"), 1, 7, noon); err != nil {
			t.Errorf("the latest: %v", err)
		}
		late := request("later", 1, 7)
		late.MadeAt = noon.Add(time.Hour)
		if keep(late); countRows(t, s, "notify_authorization_requests") != 1 {
			t.Error("requests that are over are kept")
		}
	})
}

func countRows(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	if err := s.db.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// trailOf is the audit trail, as it is stored.
func trailOf(t *testing.T, s *Store) (trail string) {
	t.Helper()
	if err := s.db.Read(t.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT action, before_json, after_json FROM audit_entries ORDER BY id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var action, before, after string
			if err := rows.Scan(&action, &before, &after); err != nil {
				return err
			}
			trail += action + " " + before + " " + after + "\n"
		}
		return rows.Err()
	}); err != nil {
		t.Fatal(err)
	}
	return trail
}

func tokens(n int) notify.AccountTokens {
	return notify.AccountTokens{
		Access: secret.New(fmt.Sprint("access-token-", n)), Refresh: secret.New(fmt.Sprint("refresh-token-", n)), Expires: noon.Add(2 * time.Hour), Count: int64(n - 1),
	}
}

// authorize keeps an account of Ada, whose user has the id 1.
func authorize(t *testing.T, s *Store, account string, n int) notify.Authorization {
	t.Helper()
	a, err := s.SaveAuthorization(t.Context(), ada, notify.Authorization{
		Connection: "cloud", AccountID: account, AccountName: "Ada L.", BaseURL: "https://bitbucket.org", UserID: 1, RefreshedAt: noon, DueAt: noon.Add(90 * time.Minute),
	}, tokens(n))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func wantTokens(t *testing.T, s *Store, id int64, n int) notify.Authorization {
	t.Helper()
	a, got, err := s.AccountTokens(t.Context(), id)
	if err != nil || got.Access.Reveal() != tokens(n).Access.Reveal() || got.Refresh.Reveal() != tokens(n).Refresh.Reveal() {
		t.Errorf("the tokens are %q and %q, want the pair %d: %v", got.Access.Reveal(), got.Refresh.Reveal(), n, err)
	}
	return a
}

// Given again, an account keeps its id, has the tokens that came last, and is of
// who gave it last.
func TestAnAccountIsAuthorisedAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		first := authorize(t, s, "{a}", 1)
		if first.State != notify.AuthorizationActive || first.AuthorizedBy != "ada" || first.Tokens != 1 || !first.DueAt.Equal(noon.Add(90*time.Minute)) {
			t.Errorf("%+v", first)
		}
		wantTokens(t, s, first.ID, 1)
		if err := s.RevokeAuthorization(t.Context(), ada, first.ID); err != nil {
			t.Fatal(err)
		}
		gone, none, err := s.AccountTokens(t.Context(), first.ID)
		if err != nil || gone.State != notify.AuthorizationRevoked || !none.Access.IsZero() || !none.Refresh.IsZero() || !gone.DueAt.IsZero() {
			t.Errorf("revoked: %+v, %v", gone, err)
		}
		if ok, err := s.KeepTokens(t.Context(), gone, tokens(2), noon); ok || err != nil {
			t.Errorf("a refresh brings a revoked account back: %v, %v", ok, err)
		}
		other, err := s.SaveAuthorization(t.Context(), notify.Actor{Name: "bob"}, notify.Authorization{Connection: "cloud", AccountID: "{a}", AccountName: "Ada Lovelace", UserID: 2, RefreshedAt: noon, DueAt: noon}, tokens(3))
		if err != nil || other.ID != first.ID || other.State != notify.AuthorizationActive || other.UserID != 2 || other.AccountName != "Ada Lovelace" || other.Tokens != 2 {
			t.Errorf("%+v, %v", other, err)
		}
		wantTokens(t, s, first.ID, 3)
		second := authorize(t, s, "{b}", 4)
		for user, want := range map[int64]int{0: 2, 1: 1, 2: 1, 3: 0} {
			if list, err := s.ListAuthorizations(t.Context(), user, 0, 10); err != nil || len(list) != want {
				t.Errorf("user %d: %+v, %v", user, list, err)
			}
		}
		if list, err := s.ListAuthorizations(t.Context(), 0, first.ID, 10); err != nil || len(list) != 1 || list[0].ID != second.ID {
			t.Errorf("after the first: %+v, %v", list, err)
		}
		if list, err := s.UsableAuthorizations(t.Context(), "cloud", 1); err != nil || len(list) != 1 || list[0].ID != second.ID {
			t.Errorf("usable: %+v, %v", list, err)
		}
		if _, err := s.Authorization(t.Context(), 99); !fault.Is(err, fault.NotFound) {
			t.Errorf("an unknown one: %v", err)
		}
	})
}

// What comes of a refresh changes the pair of tokens that it was asked with, and
// no later one.
func TestARefreshChangesThePairItWasAskedWith(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		a := authorize(t, s, "{a}", 1)
		if due, err := s.DueAuthorizations(t.Context(), noon.Add(89*time.Minute), 10); err != nil || len(due) != 0 {
			t.Errorf("due early: %+v, %v", due, err)
		}
		later := noon.Add(90 * time.Minute)
		if due, err := s.DueAuthorizations(t.Context(), later, 10); err != nil || len(due) != 1 {
			t.Errorf("due: %+v, %v", due, err)
		}
		steps := []struct {
			name string
			do   func() (bool, error)
			want bool
		}{
			{"begun", func() (bool, error) { return s.BeginRefresh(t.Context(), a.ID, 1, later) }, true},
			{"postponed", func() (bool, error) { return s.PostponeRefresh(t.Context(), a, later, "503 from there") }, true},
			{"kept", func() (bool, error) { return s.KeepTokens(t.Context(), a, tokens(2), later) }, true},
			{"kept twice", func() (bool, error) { return s.KeepTokens(t.Context(), a, tokens(2), later) }, false},
			{"begun late", func() (bool, error) { return s.BeginRefresh(t.Context(), a.ID, 1, later) }, false},
			{"postponed late", func() (bool, error) { return s.PostponeRefresh(t.Context(), a, later, "late") }, false},
			{"withdrawn late", func() (bool, error) { return s.WithdrawAuthorization(t.Context(), a.ID, 1, "late", later) }, false},
		}
		for _, step := range steps {
			if ok, err := step.do(); ok != step.want || err != nil {
				t.Errorf("%s: %v, %v", step.name, ok, err)
			}
		}
		now := wantTokens(t, s, a.ID, 2)
		if now.State != notify.AuthorizationActive || now.Reason != "" || !now.RefreshedAt.Equal(later) || !now.AskedAt.IsZero() {
			t.Errorf("%+v", now)
		}
		if ok, err := s.WithdrawAuthorization(t.Context(), a.ID, 2, "invalid_grant", later); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if now, none, err := s.AccountTokens(t.Context(), a.ID); err != nil || now.State != notify.AuthorizationWithdrawn || now.Reason != "invalid_grant" || !now.DueAt.IsZero() || !none.Access.IsZero() {
			t.Errorf("%+v, %v", now, err)
		}
		// The answer to the refresh that was asked first came, and could not be kept
		// until another node asked with the same tokens and was refused.
		if ok, err := s.KeepTokens(t.Context(), a, tokens(3), later); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if now := wantTokens(t, s, a.ID, 3); now.State != notify.AuthorizationActive || now.Reason != "" {
			t.Errorf("%+v", now)
		}
	})
}

// No token is in the audit trail or readable in the database, and a rotation of
// the key reaches each.
func TestTokensAreSealed(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		a := authorize(t, s, "{a}", 1)
		if err := s.RevokeAuthorization(t.Context(), ada, a.ID); err != nil {
			t.Fatal(err)
		}
		authorize(t, s, "{a}", 2)
		if err := s.KeepRequest(t.Context(), request("a state", 1, 7)); err != nil {
			t.Fatal(err)
		}
		var access, verifier []byte
		var state string
		if err := s.db.Read(t.Context(), func(tx *db.Tx) error {
			if err := tx.QueryRow(t.Context(), `SELECT access_token FROM notify_authorizations`).Scan(&access); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), `SELECT state, verifier FROM notify_authorization_requests`).Scan(&state, &verifier)
		}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(access), "access-token") || strings.Contains(string(verifier), "verifier of") || state == "a state" {
			t.Errorf("in the database: %q, %q, %q", access, verifier, state)
		}
		if trail := trailOf(t, s); strings.Contains(trail, "-token-") || !strings.Contains(trail, "authorize") || !strings.Contains(trail, "revoke") {
			t.Errorf("the audit trail: %s", trail)
		}
		sealed := map[string]bool{}
		for _, p := range SealedPlaces() {
			sealed[p.Table+"."+p.Column] = true
		}
		for _, want := range []string{
			"notify_authorizations.access_token", "notify_authorizations.refresh_token", "notify_authorization_requests.verifier", "notify_connections.oauth_client_secret",
		} {
			if !sealed[want] {
				t.Errorf("a rotation does not reach %s", want)
			}
		}
	})
}

// The OAuth client of a connection is kept when its secret is not given, and only
// that there is one is in the audit trail.
func TestTheOAuthClientIsKept(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		s.UsePlatforms(nil, map[string]notify.Decoder{"bitbucket-dc": decoders["bitbucket-dc"], notify.KindBitbucketCloud: decoders["bitbucket-dc"]})
		c := notify.Connection{Name: "cloud", Kind: notify.KindBitbucketCloud, BaseURL: "https://bitbucket.org", OAuthClientID: "key", OAuthClientSecret: secret.New("client-secret")}
		if _, _, err := s.CreateConnection(t.Context(), ada, c, nil); err != nil {
			t.Fatal(err)
		}
		saved := func() *notify.Connection {
			t.Helper()
			if err := s.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			return s.Platforms().Connections.Find("cloud")
		}
		c.OAuthClientSecret, c.BaseURL = secret.Value{}, "https://bitbucket.org/"
		if _, err := s.SaveConnection(t.Context(), ada, c, nil, nil); err != nil || saved().OAuthClientSecret.Reveal() != "client-secret" || !saved().HasOAuth() {
			t.Errorf("%+v, %v", saved(), err)
		}
		c.OAuthClientSecret = secret.New("another-secret")
		if _, err := s.SaveConnection(t.Context(), ada, c, nil, nil); err != nil || saved().OAuthClientSecret.Reveal() != "another-secret" {
			t.Errorf("%+v, %v", saved(), err)
		}
		c.OAuthClientID, c.OAuthClientSecret = "", secret.Value{}
		if _, err := s.SaveConnection(t.Context(), ada, c, nil, nil); err != nil || saved().HasOAuth() || !saved().OAuthClientSecret.IsZero() {
			t.Errorf("taken away: %+v, %v", saved(), err)
		}
		if trail := trailOf(t, s); strings.Contains(trail, "-secret") || !strings.Contains(trail, "•••• (another)") {
			t.Errorf("the audit trail: %s", trail)
		}
		wrong := notify.Connection{Name: "wrong", Kind: "bitbucket-dc", BaseURL: "https://git.example.com", OAuthClientID: "key"}
		if _, _, err := s.CreateConnection(t.Context(), ada, wrong, nil); !fault.Is(err, fault.Invalid) {
			t.Errorf("a client of a self-hosted platform: %v", err)
		}
	})
}
