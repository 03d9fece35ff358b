package console

// routeShell registers the shell's own pages.
func (c *Console) routeShell() {
	c.AddNav(Nav{Label: "Overview", Path: "/"})
	c.handle("GET /", SignedIn, c.showOverview, "overview")
	c.handle("GET /overview/live", SignedIn, c.liveOverview, "overview")
	c.handle("GET /sign-in", Anyone, c.showSignIn, signInPage)
	c.handle("POST /sign-in", Anyone, c.signIn, signInPage)
	c.handle("POST /sign-out", Anyone, c.signOut)
}
