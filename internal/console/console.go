package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/rest"
)

// Sessions is what the console asks of identity; *identity.Service is one.
type Sessions interface {
	SecondSteps
	// SignIn answers a new session. *identity.FactorNeeded: the password is right,
	// and SecondStep goes on. Unauthenticated: an unknown user or a wrong password.
	// RateLimited: too many failures.
	SignIn(ctx context.Context, user, password, addr string) (session string, p *identity.Principal, err error)
	// Session returns the user of a session; fault.Unauthenticated for no session.
	Session(ctx context.Context, session string) (*identity.Principal, error)
	// SignOut ends a session; one that is over is no error.
	SignOut(ctx context.Context, session string) error
	// FirstStepsHidden reports whether the user of ctx has hidden the first steps on
	// the overview.
	FirstStepsHidden(ctx context.Context) (bool, error)
	HideFirstSteps(ctx context.Context, hidden bool) error
}

// ProviderSignIn is signing in on the pages of providers; *identity.Service.
type ProviderSignIn interface {
	SignInProviders() []identity.SignInProvider
	// BeginSignIn returns the provider's page for a browser to go to.
	BeginSignIn(ctx context.Context, r identity.SignInRequest) (location string, err error)
	// CompleteSignIn opens a session for whom the provider proves, and gives the
	// page to go on to.
	CompleteSignIn(ctx context.Context, way, browser string, a identity.Answer, addr string) (session, back string, err error)
}

// Options say what a console needs.
type Options struct {
	Identity       Sessions
	ProviderSignIn ProviderSignIn // nil: none
	// BaseURL is where users reach the console. Its path is put in front of
	// every address; where it is https, cookies are Secure.
	BaseURL string
	Version string           // shown in the footer
	Clock   func() time.Time // time.Now by default
	Log     *slog.Logger     // every internal error, once, with its referral number
}

// Console collects the pages of the shell and of the wings. Register
// everything, then call Handler once.
type Console struct {
	opts      Options
	base      string // path of BaseURL without the final slash: "" or "/outrigger"
	secure    bool   // the base URL is https
	origins   *rest.Origins
	assets    assets
	pages     templates
	mux       *http.ServeMux
	routes    []*route
	nav       []Nav
	menu      []Link
	overview  []OverviewFunc
	live      liveReaders
	attention sharedAnswers[map[string]int] // how much needs it, by the reader and by the path of the entry
	finders   []Finder
	finds     limit.PerMinute[string]  // by the reader
	about     func(path string) string // the page of the documentation about a page
	ended     context.Context          // done when Stop was called: ends every live stream
	end       context.CancelFunc
	problems  []error // of registration, answered by Handler
}

// New builds a console that has the pages of the shell: overview, sign-in and
// what identity offers beyond them.
func New(o Options) (*Console, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("console: the base URL %q is not an http or https address", o.BaseURL)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Console{
		opts:   o,
		base:   strings.TrimRight(base.EscapedPath(), "/"),
		secure: base.Scheme == "https",
		mux:    http.NewServeMux(),
	}
	c.ended, c.end = context.WithCancel(context.Background())
	if c.origins, err = rest.NewOrigins(o.BaseURL); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c.AddAssets(Sub(shellAssets, "assets"))
	if err := c.pages.shell(Sub(shellTemplates, "templates"), c.funcs()); err != nil {
		return nil, err
	}
	c.AddPages(Sub(shellPages, "pages"))
	c.routeShell()
	return c, errors.Join(c.problems...)
}

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

// Sub is fs.Sub for an embedded folder that is certain to be there.
func Sub(files fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // an invalid path in the program text
	}
	return sub
}

// AddPages adds the templates of a wing; see the package documentation.
func (c *Console) AddPages(files fs.FS) {
	if err := c.pages.add(files); err != nil {
		c.problems = append(c.problems, err)
	}
}

// AddAssets adds files to be served under content-hash URLs: .svg, and the .css and
// .js modules that every page has. Their names and selectors are global.
func (c *Console) AddAssets(files fs.FS) {
	if err := c.assets.add(files); err != nil {
		c.problems = append(c.problems, err)
	}
}

// DocumentedAt sets how the page of the documentation is found that a page's heading
// links to: from the path of the one to that of the other, "" where there is none.
// Both are below the base URL.
func (c *Console) DocumentedAt(about func(path string) string) { c.about = about }

// Patterns lists the pages that were registered, in that order.
func (c *Console) Patterns() []string {
	list := make([]string, len(c.routes))
	for i, rt := range c.routes {
		list[i] = rt.pattern
	}
	return list
}

// Handler checks that every page that a route may answer with is there, and
// answers the handler of everything below the base URL that is the console's.
// The request's path still has the path of the base URL in front.
func (c *Console) Handler() (http.Handler, error) {
	problems := slices.Clone(c.problems)
	for _, rt := range c.routes {
		for _, name := range rt.templates {
			if c.pages.pages[name] == nil {
				problems = append(problems, fmt.Errorf("console: %s names the page %q, which is not there", rt.pattern, name))
			}
		}
	}
	if err := errors.Join(append(problems, c.assets.bundle())...); err != nil {
		return nil, err
	}
	return http.HandlerFunc(c.serve), nil
}

// Stop ends every live stream, which would hold up a server's Shutdown.
func (c *Console) Stop() { c.end() }
