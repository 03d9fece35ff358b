package console

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// Names of the shell's own pages that any request may come to.
const (
	confirmPage = "confirm"
	statusPage  = "status"
	signInPage  = "sign-in"

	factorPage     = "sign-in-factor"
	passkeyPage    = "sign-in-passkey"
	confirmYouPage = "confirm-you"
)

const noPage = "There is no page at this address."

type route struct {
	pattern   string
	access    Access
	handler   func(x *exchange) (Response, error)
	templates []string
}

func (rt *route) declares(template string) bool {
	return slices.Contains(rt.templates, template) || template == confirmPage || template == confirmYouPage || template == statusPage
}

// exchange is one request on its way to its answer.
type exchange struct {
	c         *Console
	w         http.ResponseWriter
	r         *http.Request
	path      string // below the base URL
	route     *route
	principal *identity.Principal
}

// Handle registers a page under a net/http pattern such as
// "GET /notifications/rules/{id}", whose path is below the base URL.
// templates are the pages that h may answer with.
func (c *Console) Handle(pattern string, access Access, h Handler, templates ...string) {
	c.handle(pattern, access, func(x *exchange) (Response, error) { return h(x.r) }, templates...)
}

// handle is Handle for the shell's own pages, which set cookies.
func (c *Console) handle(pattern string, access Access, h func(*exchange) (Response, error), templates ...string) {
	rt := &route{pattern, access, h, templates}
	c.routes = append(c.routes, rt)
	method, path, _ := strings.Cut(pattern, " ")
	if strings.HasSuffix(path, "/") {
		path += "{$}" // this page, not what is below it
	}
	c.mux.HandleFunc(method+" "+c.base+path, func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{c: c, w: w, r: r, path: c.below(r), route: rt}
		x.serve()
	})
}

// below is the request's path below the base URL.
func (c *Console) below(r *http.Request) string {
	path := strings.TrimPrefix(r.URL.EscapedPath(), c.base)
	if path == "" {
		return "/"
	}
	return path
}

// PathID is the number at {id} in the request's path.
func PathID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, fault.Wrap(err, fault.NotFound, noPage)
	}
	return id, nil
}

func (c *Console) serve(w http.ResponseWriter, r *http.Request) {
	defer c.recover(w, r)
	c.secureHeaders(w.Header())
	if c.assets.serve(w, r, c.below(r)) {
		return
	}
	h, pattern := c.mux.Handler(r)
	if pattern == "" {
		c.unrouted(w, r, h)
		return
	}
	c.mux.ServeHTTP(w, r)
}

// recover makes a panic an internal error like any other. What was already
// sent stays as it is.
func (c *Console) recover(w http.ResponseWriter, r *http.Request) {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		x := &exchange{c: c, w: w, r: r, path: c.below(r)}
		x.fail(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
	}
}

// unrouted renders the mux's own 404 and 405 as pages of the console.
func (c *Console) unrouted(w http.ResponseWriter, r *http.Request, h http.Handler) {
	x := &exchange{c: c, w: w, r: r, path: c.below(r)}
	if err := x.identify(); err != nil {
		x.fail(err)
		return
	}
	answer := &headerOnly{header: http.Header{}}
	h.ServeHTTP(answer, r)
	if answer.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", answer.header.Get("Allow"))
		x.status(http.StatusMethodNotAllowed, statusView{
			Title: "Method not allowed",
			Text:  "This address does not accept " + r.Method + " requests.",
		})
		return
	}
	if r.Method == http.MethodGet && r.URL.Path == c.base+x.path && c.isSection(x.path) { // below the base URL
		x.section()
		return
	}
	x.fail(fault.New(fault.NotFound, noPage))
}

// section answers the address of a section, which has no page of its own.
func (x *exchange) section() {
	if x.principal == nil {
		x.signInFirst()
		return
	}
	if first := x.c.firstBelow(x.principal, x.path); first != "" {
		http.Redirect(x.w, x.r, x.c.base+first, http.StatusSeeOther)
		return
	}
	x.fail(x.refusal())
}

// headerOnly keeps what a handler says about its answer and drops the answer.
type headerOnly struct {
	header http.Header
	status int
}

func (h *headerOnly) Header() http.Header         { return h.header }
func (h *headerOnly) Write(b []byte) (int, error) { return len(b), nil }
func (h *headerOnly) WriteHeader(status int)      { h.status = status }

// serve runs the route: who asks, may they, from here, and what is the answer.
func (x *exchange) serve() {
	if err := x.identify(); err != nil {
		x.fail(err)
		return
	}
	if err := x.c.origins.Check(x.r); err != nil {
		x.fail(fault.Wrap(err, fault.Forbidden, "The request came from another site and was refused. Open the page in Outrigger and try again."))
		return
	}
	if !x.route.access(x.r, x.principal) {
		x.fail(x.refusal())
		return
	}
	if !rest.TextValues(x.r.URL.Query()) {
		x.fail(fault.New(fault.Invalid, "The address has characters that are no text. Check it, or go back and try again."))
		return
	}
	answer, err := x.route.handler(x)
	if err != nil {
		x.failWith(answer, err)
		return
	}
	if answer == nil {
		x.fail(fault.New(fault.Internal, "%s answered nothing", x.route.pattern))
		return
	}
	if err := answer.respond(x); err != nil {
		x.fail(err)
	}
}

// identify finds whose session the request's cookie is, and puts the
// principal into the request's context. No session is no error.
func (x *exchange) identify() error {
	cookie, err := x.r.Cookie(x.sessionCookie())
	if err != nil {
		return nil
	}
	ctx := x.r.Context()
	if x.r.Header.Get("Accept") == "text/event-stream" { // an open page comes back to its stream
		ctx = identity.Unattended(ctx)
	}
	p, err := x.c.opts.Identity.Session(ctx, cookie.Value)
	if fault.Is(err, fault.Unauthenticated) {
		x.dropCookie(x.sessionCookie())
		if errors.Is(err, identity.ErrPaused) {
			x.setFlash(fault.As(err).Message, Warn)
		}
		return nil
	}
	if err != nil {
		return err
	}
	x.principal = p
	x.r = x.r.WithContext(identity.With(x.r.Context(), p))
	return nil
}

func (x *exchange) refusal() error {
	if x.principal == nil {
		return fault.New(fault.Unauthenticated, "Sign in to see this page.")
	}
	return fault.New(fault.Forbidden, "You do not have permission to see this page. Ask an Outrigger administrator for access.")
}
