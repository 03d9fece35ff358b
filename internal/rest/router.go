package rest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/identity"
	"outrigger/internal/trace"
)

// Options say what a router needs.
type Options struct {
	Identity identity.Authenticator
	Log      *slog.Logger
	// BaseURL is where users reach the server, such as
	// https://tools.example.com/outrigger. Everything is served under its path.
	BaseURL        string
	TrustedProxies []string              // CIDRs whose X-Forwarded-For and X-Forwarded-Proto count
	HSTS           bool                  // answers over https tell browsers to come by https only
	Metrics        prometheus.Registerer // nil: not counted
}

// Router takes every request of the server: to a route, or to the fallback.
type Router struct {
	identity  identity.Authenticator
	log       *slog.Logger
	base      baseURL
	proxies   atomic.Pointer[proxies]
	unlisted  unlisted
	hsts      bool
	hosts     *Hosts // nil: any host is answered
	metrics   *metrics
	origins   *Origins
	mux       *http.ServeMux
	endpoints map[string]*endpoint
	routes    []Route
	versioned []string // APIs of which there is a version 1.0
	fallback  http.Handler

	operations        []*described
	description       func() []byte // made when it is first asked for
	descriptionInJSON func() ([]byte, error)
}

type baseURL struct {
	link  string // without the final slash
	path  string // "" or "/outrigger"
	https bool
}

// NewRouter makes a router with no routes.
func NewRouter(o Options) (*Router, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || strings.ContainsAny(base.Path, "{} ") {
		return nil, fmt.Errorf("the base URL %q is not absolute, or has a space or brace in its path", o.BaseURL)
	}
	rt := &Router{
		identity:  o.Identity,
		log:       slog.New(LogHandler(o.Log.Handler())),
		base:      baseURL{strings.TrimRight(o.BaseURL, "/"), strings.TrimRight(base.Path, "/"), base.Scheme == "https"},
		hsts:      o.HSTS,
		mux:       http.NewServeMux(),
		endpoints: map[string]*endpoint{},
	}
	if err := rt.TrustProxies(o.TrustedProxies); err != nil {
		return nil, err
	}
	if rt.metrics, err = newMetrics(o.Metrics); err != nil {
		return nil, err
	}
	if rt.origins, err = NewOrigins(o.BaseURL); err != nil {
		return nil, err
	}
	rt.description, rt.descriptionInJSON = sync.OnceValue(rt.makeDescription), sync.OnceValues(rt.makeDescriptionInJSON)
	rt.mux.HandleFunc("/", rt.serveOther)
	rt.describeItself()
	return rt, nil
}

// Fallback takes what no route has and what is not under /rest or /hooks: the
// console. Its requests have the whole path, that of the base URL included.
// Call it before serving.
func (rt *Router) Fallback(h http.Handler) { rt.fallback = h }

// OnlyHosts has pages, and whatever a cookie could open, answered for these
// hosts only, others with 421. Without it every host is answered. Call it before
// serving.
func (rt *Router) OnlyHosts(h Hosts) { rt.hosts = &h }

// handle adds a route. Under /rest, a route whose path ends in a word is also
// found with .json and .xml after it. Like http.ServeMux, it panics on a path
// that is malformed or conflicts with another. Call it before serving.
func (rt *Router) handle(route Route, h Handler) {
	if route.MaxBody == 0 {
		route.MaxBody = defaultMaxBody
	}
	rt.routes = append(rt.routes, route)
	rt.noteVersion(route.Path)
	rt.add(route.Path, &route, h).suffixed = false
	last := route.Path[strings.LastIndexByte(route.Path, '/')+1:]
	if route.Own || route.Raw || last == "" || strings.ContainsAny(last, "{.") || !strings.HasPrefix(route.Path, "/rest/") {
		return
	}
	for _, f := range jsonOrXML {
		e := rt.add(route.Path+"."+f.name(), &route, h)
		e.suffixed, e.suffix = true, f
	}
}

func (rt *Router) add(path string, route *Route, h Handler) *endpoint {
	e := rt.endpoints[path]
	if e == nil {
		e = &endpoint{router: rt, methods: map[string]method{}}
		rt.endpoints[path] = e
		rt.mux.Handle(rt.base.path+path, e)
	}
	if _, twice := e.methods[route.Method]; twice {
		panic(fmt.Sprintf("rest: route %s %s is added twice", route.Method, path))
	}
	e.methods[route.Method] = method{route, h}
	if _, own := e.methods[http.MethodHead]; route.Method == http.MethodGet && !own {
		e.methods[http.MethodHead] = method{route, h}
	}
	return e
}

// Routes lists what Add, Serve and Handle added, in that order.
func (rt *Router) Routes() []Route { return rt.routes }

// Headers of every answer, made once.
var noStore, varyAccept, noSniff = []string{"no-store"}, []string{"Accept"}, []string{"nosniff"}

// hsts is of a year, as browsers' lists ask for, and of this host only: others
// of its domain are not ours to speak for.
var hsts = []string{"max-age=31536000"}

// ServeHTTP answers any request of the server, and notes in r what is known of it.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{ResponseWriter: w, router: rt, started: time.Now()}
	id := randomHex()
	h := w.Header()
	h["X-Request-Id"] = []string{id}
	if strings.HasPrefix(r.URL.Path, rt.base.path+"/rest/") {
		h["Cache-Control"], h["Vary"], h["X-Content-Type-Options"] = noStore, varyAccept, noSniff
	}
	trusted := rt.proxies.Load()
	x.caller.Origin = identity.Origin{Address: trusted.client(r), RequestID: id, UserAgent: r.UserAgent(),
		HTTPS: rt.base.https || trusted.https(r)}
	rt.noteUnlisted(r, x.started)
	if rt.hsts && x.caller.HTTPS {
		h["Strict-Transport-Security"] = hsts
	}
	ctx := context.WithValue(identity.WithCaller(r.Context(), &x.caller), exchangeKey{}, x)
	if t := trace.From(r.Header); t.ID != "" {
		ctx = trace.With(ctx, t)
	}
	*r = *r.WithContext(ctx)
	defer x.finish(r)
	if rt.misdirected(r) {
		if within(strings.TrimPrefix(r.URL.Path, rt.base.path), "/rest") {
			WriteError(x, r, errMisdirected(r))
		} else {
			refusePage(x, r)
		}
		return
	}
	if rt.isUncleanAPIPath(r.URL.EscapedPath()) {
		WriteError(x, r, errNotFound(r))
		return
	}
	rt.mux.ServeHTTP(x, rt.plain(r))
}

// isUncleanAPIPath reports whether a path is one of the API but for empty or dotted segments.
// ServeMux would redirect to the path without them, in HTML, and a client that
// follows may leave the body behind.
func (rt *Router) isUncleanAPIPath(escaped string) bool {
	clean := path.Clean(escaped)
	if escaped == clean || escaped == clean+"/" {
		return false
	}
	under, ok := strings.CutPrefix(clean, rt.base.path)
	return ok && (within(under, "/rest") || within(under, "/hooks"))
}

// finish recovers a panic like any internal error, and accounts for the
// request.
func (x *exchange) finish(r *http.Request) {
	defer x.router.account(r, x)
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		WriteError(x, r, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
	}
}

// serveOther takes what no route has.
func (rt *Router) serveOther(w http.ResponseWriter, r *http.Request) {
	path, under := strings.CutPrefix(r.URL.Path, rt.base.path)
	ours := under && (within(path, "/rest") || within(path, "/hooks"))
	if rt.fallback == nil || ours || !under || path != "" && path[0] != '/' {
		WriteError(w, r, errNotFound(r))
		return
	}
	rt.fallback.ServeHTTP(w, r)
}

// within reports whether path is root or below it.
func within(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/')
}
