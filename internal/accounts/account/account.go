// Package account is the console's pages about the reader's own account: the
// password, second factors, tokens, and where one is signed in.
package account

import (
	"context"
	"embed"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

//go:embed pages
var pages embed.FS

const (
	passwordPath = "/account/password"
	tokensPath   = "/account/tokens"
	newTokenPath = "/account/tokens/new"
	sessionsPath = "/account/sessions"
	// endOthersPath ends all sessions but the one that asks.
	endOthersPath = "/account/sessions/end-others"
	factorsPath   = console.FactorsPath
	appPath       = factorsPath + "/app"
	passkeysPath  = factorsPath + "/passkeys"
	recoveryPath  = factorsPath + "/recovery-codes"
)

// listed is how many tokens or sessions stand on a page.
const listed = 50

// Service is what the pages ask of identity; *identity.Service is one.
type Service interface {
	CheckPassword(ctx context.Context, user, password, addr string) error
	SetPassword(ctx context.Context, name string, password secret.Value) error
	CreateToken(ctx context.Context, user, name string, scope identity.Scope, expires time.Time) (secret.Value, identity.Token, error)
	Tokens(ctx context.Context, user string, after int64, limit int) ([]identity.Token, error)
	TokenByID(ctx context.Context, id int64) (identity.Token, error)
	RevokeToken(ctx context.Context, id int64) error
	RevokeTokens(ctx context.Context, user string) (int, error)
	Sessions(ctx context.Context, user string, after int64, limit int) ([]identity.Session, error)
	SessionByID(ctx context.Context, id int64) (identity.Session, error)
	EndSession(ctx context.Context, id int64) error
	EndSessions(ctx context.Context, user string, but int64) (int, error)
	RequireConfirmed(ctx context.Context) error

	Factors(ctx context.Context) (identity.Factors, error)
	SetUpApp(ctx context.Context) (identity.App, error)
	UseApp(ctx context.Context, code secret.Value) (recovery []secret.Value, err error)
	RemoveApp(ctx context.Context) error
	Passkeys(ctx context.Context) ([]identity.Passkey, error)
	NewPasskey(ctx context.Context) (identity.Ceremony, error)
	AddPasskey(ctx context.Context, name, ceremony string, answer []byte) (recovery []secret.Value, err error)
	RemovePasskey(ctx context.Context, id int64) error
	NoPasskeys() string
	NewRecoveryCodes(ctx context.Context) ([]secret.Value, error)
}

// Register adds the pages to a console. clock nil is time.Now.
func Register(c *console.Console, s Service, clock func() time.Time) {
	if clock == nil {
		clock = time.Now
	}
	a := &account{service: s, now: clock}
	c.AddPages(console.Sub(pages, "pages"))
	c.AddMenu(console.Link{Label: "Change password", Path: passwordPath})
	c.AddMenu(console.Link{Label: "Second factor", Path: factorsPath})
	c.AddMenu(console.Link{Label: "Tokens", Path: tokensPath})
	c.AddMenu(console.Link{Label: "Sessions", Path: sessionsPath})

	c.Handle("GET "+passwordPath, console.SignedIn, a.showPassword, "account-password")
	c.Handle("POST "+passwordPath, console.SignedIn, console.WithForm(a.changePassword), "account-password")
	c.Handle("GET "+factorsPath, console.SignedIn, a.showFactors, "account-factors")
	c.Handle("GET "+appPath, console.SignedIn, a.showApp, "account-app")
	c.Handle("POST "+appPath, console.SignedIn, console.WithForm(a.useApp), "account-app", "account-recovery")
	c.Handle("GET "+appPath+"/remove", console.SignedIn, a.askRemoveApp)
	c.Handle("POST "+appPath+"/remove", console.SignedIn, a.removeApp)
	c.Handle("GET "+passkeysPath+"/new", console.SignedIn, a.newPasskey, "account-passkey")
	c.Handle("POST "+passkeysPath+"/new", console.SignedIn, console.WithForm(a.addPasskey), "account-passkey", "account-recovery")
	c.Handle("GET "+passkeysPath+"/{id}/remove", console.SignedIn, a.askRemovePasskey)
	c.Handle("POST "+passkeysPath+"/{id}/remove", console.SignedIn, a.removePasskey)
	c.Handle("GET "+recoveryPath, console.SignedIn, a.askRecovery)
	c.Handle("POST "+recoveryPath, console.SignedIn, a.makeRecovery, "account-recovery")
	c.Handle("GET "+tokensPath, console.SignedIn, a.listTokens, "account-tokens")
	c.Handle("GET "+newTokenPath, console.SignedIn, a.blankToken, "account-token-new")
	c.Handle("POST "+newTokenPath, console.SignedIn, console.WithForm(a.createToken), "account-token-new", "account-token")
	c.Handle("GET "+tokensPath+"/{id}/revoke", console.SignedIn, a.confirmRevoke)
	c.Handle("POST "+tokensPath+"/{id}/revoke", console.SignedIn, a.revokeToken)
	c.Handle("GET "+sessionsPath, console.SignedIn, a.listSessions, "account-sessions")
	c.Handle("GET "+endOthersPath, console.SignedIn, a.confirmEndOthers)
	c.Handle("POST "+endOthersPath, console.SignedIn, a.endOthers)
	c.Handle("GET "+sessionsPath+"/{id}/end", console.SignedIn, a.confirmEnd)
	c.Handle("POST "+sessionsPath+"/{id}/end", console.SignedIn, a.endSession)
}

type account struct {
	service Service
	now     func() time.Time
}

// tabs are the pages about the account, that of path current.
func tabs(path string) []console.Tab {
	return []console.Tab{
		{Label: "Password", Path: passwordPath, Current: path == passwordPath},
		{Label: "Second factor", Path: factorsPath, Current: path == factorsPath},
		{Label: "Tokens", Path: tokensPath, Current: path == tokensPath},
		{Label: "Sessions", Path: sessionsPath, Current: path == sessionsPath},
	}
}

const section = "Your account"
