package app

import (
	"encoding/base32"
	"errors"
	"strings"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/secret"
)

// useSecondFactor has a user set up an app, and sign in with a wrong code and a
// recovery code.
func (p *permissionTable) useSecondFactor(m marked) {
	p.t.Helper()
	ctx := p.t.Context()
	m["password of fay"] = "fay's own password"
	if _, err := p.identity.CreateUser(ctx, "fay", secret.New(m["password of fay"])); err != nil {
		p.t.Fatal(err)
	}
	app, err := identitytest.SetUp(ctx, p.identity, "fay", time.Now)
	if err != nil {
		p.t.Fatal(err)
	}
	key, err := base32.StdEncoding.DecodeString(app.Secret)
	if err != nil {
		p.t.Fatal(err)
	}
	m["secret of an app"], m["bytes of it"] = app.Secret, string(key)
	for i, code := range app.Recovery[:2] {
		m["recovery code "+string(rune('a'+i))], m["its characters "+string(rune('a'+i))] = code, strings.ReplaceAll(code, "-", "")
	}
	_, _, err = p.identity.SignIn(ctx, "fay", m["password of fay"], "127.0.0.1")
	var needed *identity.FactorNeeded
	if !errors.As(err, &needed) {
		p.t.Fatal(err)
	}
	m["sign-in that waits"] = needed.Pending
	if _, _, err := p.identity.SecondStep(ctx, needed.Pending, identity.Proof{Code: secret.New("no code of any kind")}, "127.0.0.1"); err == nil {
		p.t.Error("a wrong code let fay in")
	}
	session, _, err := p.identity.SecondStep(ctx, needed.Pending, identity.Proof{Code: secret.New(app.Recovery[0])}, "127.0.0.1")
	if err != nil {
		p.t.Fatal(err)
	}
	m["session of fay"] = session
	for _, page := range []string{"GET /account/second-factor", "GET /account/second-factor/app", "GET /account/second-factor/recovery-codes", "GET /confirm"} {
		for _, leak := range m.in(p.read(page, session)) {
			p.t.Errorf("%s of fay shows %s", page, leak)
		}
	}
}
