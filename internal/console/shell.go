package console

// routeShell registers the shell's own pages.
func (c *Console) routeShell() {
	c.AddNav(Nav{Label: "Overview", Path: "/"})
	c.handle("GET /", SignedIn, c.showOverview, "overview")
	c.handle("GET /overview/live", SignedIn, c.liveOverview, "overview")
	c.handle("POST /overview/steps", SignedIn, c.chooseSteps)
	c.handle("GET "+findPath, SignedIn, c.find, findPage)
	c.handle("GET /sign-in", Anyone, c.showSignIn, signInPage)
	c.handle("POST /sign-in", Anyone, c.signIn, signInPage)
	c.handle("GET /sign-in/factor", Anyone, c.showFactor, factorPage)
	c.handle("POST /sign-in/factor", Anyone, c.secondStep, factorPage)
	c.handle("GET /sign-in/passkey", Anyone, c.showPasskeySignIn, passkeyPage)
	c.handle("POST /sign-in/passkey", Anyone, c.passkeySignIn, passkeyPage)
	c.handle("GET /confirm", SignedIn, c.showConfirm, confirmYouPage)
	c.handle("POST /confirm", SignedIn, c.confirm, confirmYouPage)
	c.handle("GET /sign-in/{way}", Anyone, c.beginSignIn, signInPage)
	c.handle("GET /sign-in/{way}/callback", Anyone, c.completeSignIn, signInPage)
	c.handle("POST /sign-out", Anyone, c.signOut)
}
