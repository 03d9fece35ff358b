package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// cookie sets a cookie for everything below the base URL; an empty value
// drops it.
func (x *exchange) cookie(name, value string, maxAge int) {
	http.SetCookie(x.w, &http.Cookie{
		Name: name, Value: value, MaxAge: maxAge,
		Path: x.c.base + "/", Secure: x.secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// secure reports whether the browser came by https.
func (x *exchange) secure() bool {
	return x.c.secure || identity.OriginOf(x.r.Context()).HTTPS
}

func (x *exchange) sessionCookie() string { return identity.SessionCookie(x.secure(), x.c.base) }

// cookieValue is what a cookie of the request holds, "" for none.
func (x *exchange) cookieValue(name string) string {
	cookie, err := x.r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (x *exchange) dropCookie(name string) { x.cookie(name, "", -1) }

// signInView is the sign-in form.
type signInView struct {
	*Form
	To   string // where to go after it
	Ways []Link // other ways to sign in
}

// showSignIn is GET /sign-in.
func (c *Console) showSignIn(x *exchange) (Response, error) {
	to := LocalPath(x.r.URL.Query().Get("to"))
	if x.principal != nil {
		return Redirect{To: to}, nil
	}
	return c.signInPage(NewForm(), to), nil
}

func (c *Console) signInPage(form *Form, to string) Page {
	return Page{Template: signInPage, Title: "Sign in to Outrigger", Data: signInView{form, to, c.ways(to)}}
}

// ways are the ways to sign in without a password typed here, which go on to a
// page.
func (c *Console) ways(to string) (ways []Link) {
	if c.opts.Identity.NoPasskeys() == "" {
		ways = append(ways, Link{"Sign in with a passkey", Path("/sign-in/passkey?to=%s", to)})
	}
	return append(ways, c.providers(to)...)
}

// signIn is POST /sign-in.
func (c *Console) signIn(x *exchange) (Response, error) {
	form, err := ReadForm(x.r)
	if err != nil {
		return nil, err
	}
	to := LocalPath(form.Get("to"))
	var missing fault.Fields
	if form.Get("user") == "" {
		missing.Add("user", "Enter your user name.")
	}
	if form.Raw("password") == "" {
		missing.Add("password", "Enter your password.")
	}
	if err := missing.Err(); err != nil {
		return c.signInPage(form, to), err
	}
	ctx := x.r.Context()
	session, _, err := c.opts.Identity.SignIn(ctx, form.Get("user"), form.Raw("password"), identity.OriginOf(ctx).Address)
	if needed := (*identity.FactorNeeded)(nil); errors.As(err, &needed) {
		x.cookie(x.stepCookie(), needed.Pending, 0)
		return Redirect{To: factorPath(to)}, nil
	}
	if fault.Is(err, fault.Unauthenticated) {
		return c.signInPage(form, to), fault.Wrap(err, fault.Unauthenticated, "The user name or password is wrong.")
	}
	if err != nil {
		return c.signInPage(form, to), err
	}
	return x.enter(session, to)
}

// enter has the browser keep the session in place of the one that it had, which
// ends, and go on.
func (x *exchange) enter(session, to string) (Response, error) {
	if err := x.endSession(); err != nil {
		return nil, err
	}
	x.cookie(x.sessionCookie(), session, 0) // as long as the browser; identity ends it sooner
	return Redirect{To: to}, nil
}

// signOut is POST /sign-out.
func (c *Console) signOut(x *exchange) (Response, error) {
	if err := x.endSession(); err != nil {
		return nil, err
	}
	x.dropCookie(x.sessionCookie())
	return Redirect{To: "/sign-in", Flash: "You have signed out."}, nil
}

// endSession ends the session of the browser's cookie, if there is one.
func (x *exchange) endSession() error {
	session := x.cookieValue(x.sessionCookie())
	if session == "" {
		return nil
	}
	return x.c.opts.Identity.SignOut(x.r.Context(), session)
}

// LocalPath is where to go on: to if it is a path of the console, else the
// overview. Whatever a browser could read as another site is refused:
// "//host", a backslash, a control character.
func LocalPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil ||
		!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.ContainsFunc(to, func(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f }) {
		return "/"
	}
	if p := u.EscapedPath(); p == "/sign-in" || strings.HasPrefix(p, "/sign-in/") || p == "/sign-out" || p == "/confirm" {
		return "/"
	}
	return to
}
