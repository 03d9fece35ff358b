package console

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// providers link to the providers on whose pages one can sign in.
func (c *Console) providers(to string) (links []Link) {
	if c.opts.ProviderSignIn == nil {
		return nil
	}
	for _, w := range c.opts.ProviderSignIn.SignInProviders() {
		links = append(links, Link{"Sign in with " + w.Name, Path("/sign-in/%s?to=%s", w.ID, to)})
	}
	return links
}

// again links to the providers with which who asks can sign in again.
func (x *exchange) again(to string) (links []Link) {
	if x.c.opts.ProviderSignIn == nil {
		return nil
	}
	for _, w := range x.c.opts.ProviderSignIn.SignInProviders() {
		if w.Source == x.principal.Source && w.Reconfirms {
			links = append(links, Link{"Sign in again with " + w.Name, Path("/sign-in/%s?again=true&to=%s", w.ID, to)})
		}
	}
	return links
}

// signInSeconds is how long the cookie of a browser that signs in lasts: longer
// than identity gives it time.
const signInSeconds = 15 * 60

func (x *exchange) signInCookie() string { return identity.SignInCookie(x.secure(), x.c.base) }

// browser is what the browser's cookie holds, "" for none.
func (x *exchange) browser() string { return x.cookieValue(x.signInCookie()) }

// beginSignIn is GET /sign-in/{way}: a link leads here and not a form, which may
// lead to our own pages only.
func (c *Console) beginSignIn(x *exchange) (Response, error) {
	to := LocalPath(x.r.URL.Query().Get("to"))
	if c.opts.ProviderSignIn == nil {
		return nil, fault.New(fault.NotFound, "There is no page at this address.")
	}
	again := x.r.URL.Query().Get("again") == "true"
	if x.principal != nil && !again {
		return Redirect{To: to}, nil
	}
	browser := x.browser()
	if !identity.IsBrowserSecret(browser) {
		browser = identity.BrowserSecret()
	}
	ctx := x.r.Context()
	location, err := c.opts.ProviderSignIn.BeginSignIn(ctx, identity.SignInRequest{
		Way: x.r.PathValue("way"), Browser: browser, Back: to, Address: identity.OriginOf(ctx).Address, Again: again,
	})
	if err != nil {
		return c.signInPage(NewForm(), to), err
	}
	x.cookie(x.signInCookie(), browser, signInSeconds)
	return elsewhere(location), nil
}

// elsewhere leads to a page of another site.
type elsewhere string

func (to elsewhere) respond(x *exchange) error {
	http.Redirect(x.w, x.r, string(to), http.StatusSeeOther)
	return nil
}

// completeSignIn is where a provider sends browsers back to.
func (c *Console) completeSignIn(x *exchange) (Response, error) {
	if c.opts.ProviderSignIn == nil {
		return nil, fault.New(fault.NotFound, "There is no page at this address.")
	}
	q, ctx := x.r.URL.Query(), x.r.Context()
	answer := identity.Answer{State: q.Get("state"), Code: secret.New(q.Get("code")), Error: q.Get("error"), Issuer: q.Get("iss")}
	session, back, err := c.opts.ProviderSignIn.CompleteSignIn(ctx, x.r.PathValue("way"), x.browser(), answer, identity.OriginOf(ctx).Address)
	back = LocalPath(back)
	switch {
	case fault.Is(err, fault.Invalid) && x.principal != nil: // the page was reloaded
		return Redirect{To: "/"}, nil
	case err != nil:
		return c.signInPage(NewForm(), back), err
	}
	return x.enter(session, back)
}
