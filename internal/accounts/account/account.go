// Package account is the console's pages about the reader's own account: the
// password, second factors, tokens, and where one is signed in.
package account

import (
	"embed"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
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

// Register adds the pages to a console.
func Register(c *console.Console, s *identity.Service, clock func() time.Time) {
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
	c.Handle("POST "+passkeysPath+"/{id}/remove", console.SignedIn, console.Of(a.passkeyOfPath, a.removePasskey))
	c.Handle("GET "+recoveryPath, console.SignedIn, a.askRecovery)
	c.Handle("POST "+recoveryPath, console.SignedIn, a.makeRecovery, "account-recovery")
	c.Handle("GET "+tokensPath, console.SignedIn, a.listTokens, "account-tokens")
	c.Handle("GET "+newTokenPath, console.SignedIn, a.blankToken, "account-token-new")
	c.Handle("POST "+newTokenPath, console.SignedIn, console.WithForm(a.createToken), "account-token-new", "account-token")
	c.Handle("GET "+tokensPath+"/{id}/revoke", console.SignedIn, console.Of(a.mine, a.confirmRevoke))
	c.Handle("POST "+tokensPath+"/{id}/revoke", console.SignedIn, console.Of(a.mine, a.revokeToken))
	c.Handle("GET "+sessionsPath, console.SignedIn, a.listSessions, "account-sessions")
	c.Handle("GET "+endOthersPath, console.SignedIn, a.confirmEndOthers)
	c.Handle("POST "+endOthersPath, console.SignedIn, a.endOthers)
	c.Handle("GET "+sessionsPath+"/{id}/end", console.SignedIn, console.Of(a.own, a.confirmEnd))
	c.Handle("POST "+sessionsPath+"/{id}/end", console.SignedIn, console.Of(a.own, a.endSession))
}

type account struct {
	service *identity.Service
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
