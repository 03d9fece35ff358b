package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/secret"
)

// refused reports whether a status says that the asker may not.
func refused(status string) bool { return status == "401" || status == "403" }

// judge checks what holds for every operation and page, whatever it does.
func (row tableRow) judge(t *testing.T, cells map[string]string, page bool) {
	t.Helper()
	wrong := func(who, why string) {
		t.Helper()
		t.Errorf("%s as %s answers %s: %s", row.text, who, cells[who], why)
	}
	// Whoever is not let in is as a stranger; a paused user's token is told why.
	for _, who := range []string{"wrong", "disabled", "paused"} {
		want := cells["nobody"]
		if who == "paused" && !page && !row.open {
			want = "403"
		}
		if cells[who] != want {
			wrong(who, "want "+want)
		}
	}
	if !page && !row.open && cells["nobody"] != "401" {
		wrong("nobody", "the description says that credentials are needed")
	}
	// A wider permission includes the narrower, a token has no more than its owner.
	for _, chain := range [][]string{
		{"repository", "project", "global", "admin"}, {"other-project", "global"},
		{"token:read", "token:all", "admin"}, {"token:backup", "admin"}, {"token:monitoring", "admin"}, {"token:builds", "admin"}, {"token:mail", "admin"},
	} {
		for i, narrow := range chain[:len(chain)-1] {
			if wide := chain[i+1]; !refused(cells[narrow]) && refused(cells[wide]) {
				wrong(wide, narrow+" may do it")
			}
		}
	}
	if !page && !row.open {
		row.judgeScopes(cells, wrong)
	}
}

// judgeScopes checks what each scope of a token is for, by the words of the design.
func (row tableRow) judgeScopes(cells map[string]string, wrong func(who, why string)) {
	method, path, _ := strings.Cut(row.text, " ")
	for scope, allowed := range map[string]bool{
		"read":       method == "GET" || method == "HEAD",
		"backup":     method == "GET" && path == "/rest/outrigger/1.0/backup",
		"monitoring": method == "GET" && (path == "/metrics" || path == "/rest/outrigger/1.0/attention" || strings.HasPrefix(path, "/rest/mailqueue/1.0/")),
		"builds":     method == "POST" && strings.HasPrefix(path, "/hooks/{connection}/builds/"),
		"mail":       false,
	} {
		if who := "token:" + scope; !allowed && cells[who] != "403" {
			wrong(who, "the scope is not for it")
		}
	}
}

// makeDisabled makes a user with SYS_ADMIN, a session and a token, and disables it.
func (p *permissionTable) makeDisabled() asker {
	const name = "disabled"
	if _, err := p.identity.CreateUser(p.t.Context(), name, secret.New(password)); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.identity.Grant(p.t.Context(), name, identity.SysAdmin, identity.Resource{}); err != nil {
		p.t.Fatal(err)
	}
	who := asker{name, p.token(name, identity.All), p.signIn(name)}
	if err := p.identity.DisableUser(p.t.Context(), name); err != nil {
		p.t.Fatal(err)
	}
	return who
}

// gone is a provider that had one user.
type gone struct{}

func (gone) Location(_ context.Context, p identity.Proofs) (string, error) { return p.State, nil }

func (gone) Account(context.Context, secret.Value, identity.Proofs) (identity.Account, error) {
	return identity.Account{Name: "paused", Subject: "subject"}, nil
}

// makePaused makes, on a server of three days ago, a user of single sign-on with
// SYS_ADMIN, who is paused after two days.
func makePaused(t *testing.T, cfg *config.Config) asker {
	t.Helper()
	o := &cfg.Identity.OIDC
	o.Issuer, o.ClientID, o.ClientSecret, o.Idle = "http://127.0.0.1:1", "outrigger", secret.New("client secret"), config.Duration(2*day)
	clock := new(identitytest.Clock)
	clock.Move(-3 * day)
	p := &permissionTable{App: startAt(t, cfg, clock.Now), t: t}
	p.identity.UseSignInProvider(identity.SignInProvider{ID: "gone", Name: "a provider", Source: identity.SingleSignOn, Provider: gone{}})
	browser := identity.BrowserSecret()
	state, err := p.identity.BeginSignIn(t.Context(), identity.SignInRequest{Way: "gone", Browser: browser, Back: "/"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = p.identity.CompleteSignIn(t.Context(), "gone", browser, identity.Answer{State: state, Code: secret.New("code")}, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.identity.Grant(t.Context(), "oidc:paused", identity.SysAdmin, identity.Resource{}); err != nil {
		t.Fatal(err)
	}
	who := asker{"paused", p.token("oidc:paused", identity.All), "session of the paused user"}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	return who
}

// wake creates for the paused user a session that was just used, and checks that it is for
// the pause alone that it is refused.
func (p *permissionTable) wake(paused asker) {
	p.t.Helper()
	err := p.db.Write(p.t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(p.t.Context(), `INSERT INTO identity_sessions (user_id, hash, address, browser, created_at, used_at, expires_at, confirmed_at)
			SELECT id, $1, '127.0.0.1', '', $2, $2, $3, $2 FROM identity_users WHERE name = 'paused'`,
			secret.Fingerprint(paused.session), db.Micros(time.Now()), db.Micros(time.Now().Add(day)))
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.identity.Session(p.t.Context(), paused.session); !errors.Is(err, identity.ErrPaused) {
		p.t.Fatalf("the session of the paused user: %v", err)
	}
}
