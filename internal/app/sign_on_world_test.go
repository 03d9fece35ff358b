package app

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/playground/openid"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// front is what users reach: it hands on to one of the nodes behind it.
type front struct {
	url  string
	node atomic.Pointer[App]
}

func newFront(t *testing.T) *front {
	f := new(front)
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", f.node.Load().addr.String()
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{DisableKeepAlives: true},
	})
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// signOnWorld is a provider, and a server that has users sign in with it.
type signOnWorld struct {
	*front
	t        *testing.T
	provider *playgroundtest.OpenID
	clock    *identitytest.Clock
	cfg      *config.Config
}

func newSignOnWorld(t *testing.T, change ...func(*config.Config)) *signOnWorld {
	t.Helper()
	w := &signOnWorld{front: newFront(t), t: t, clock: new(identitytest.Clock), cfg: settings(t)}
	w.provider = playgroundtest.NewOpenID(openid.Options{Clock: w.clock.Now, Accounts: []openid.Account{
		{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann", "groups": []string{"devs", "outrigger-admins"}}},
		{Subject: "s-bob", Claims: map[string]any{"preferred_username": "bob", "groups": []string{"devs"}}},
	}})
	server := httptest.NewServer(w.provider.Handler())
	t.Cleanup(server.Close)
	w.provider.SetClient(openid.Client{ID: "outrigger", Secret: "client secret", Callback: w.url + "/sign-in/oidc/callback"})
	w.cfg.BaseURL = w.url
	o := &w.cfg.Identity.OIDC
	o.Issuer, o.ClientID, o.ClientSecret, o.Name = server.URL, "outrigger", secret.New("client secret"), "the company"
	o.GroupsClaim, o.AdminGroups = "groups", []string{"outrigger-admins"}
	for _, c := range change {
		c(w.cfg)
	}
	return w
}

// run starts a node and has the front hand on to it.
func (w *signOnWorld) run(cfg *config.Config) *App {
	w.t.Helper()
	a := startWith(w.t, cfg, Options{Version: "v0", Clock: w.clock.Now})
	w.node.Store(a)
	return a
}

// visitor is a browser that has not signed in.
func (w *signOnWorld) visitor() *person {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &person{http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}, w.t, w.node.Load()}
}

// leave goes to the provider, and gives its address.
func (w *signOnWorld) leave(b *person, to string) string {
	w.t.Helper()
	status, at, body := b.send("GET", w.url+"/sign-in/oidc?to="+url.QueryEscape(to), nil)
	if status != 200 || at.Path != "/authorize" {
		w.t.Fatalf("%d %s: %s", status, at, body)
	}
	return at.String()
}

// callback answers the provider's page, and gives where the browser is sent.
func (w *signOnWorld) callback(b *person, location, account string) string {
	w.t.Helper()
	still := *b
	still.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := still.PostForm(location, url.Values{"account": {account}, "answer": {"yes"}})
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.Header.Get("Location")
}

// signIn does all of it.
func (w *signOnWorld) signIn(b *person, account, to string) (int, *url.URL, string) {
	w.t.Helper()
	return b.send("GET", w.callback(b, w.leave(b, to), account), nil)
}

// signedIn tells who the browser is; "" for a visitor.
func (w *signOnWorld) signedIn(b *person) string {
	w.t.Helper()
	_, at, body := b.send("GET", w.url+"/account/tokens", nil)
	if strings.HasSuffix(at.Path, "/sign-in") {
		return ""
	}
	for _, name := range []string{"ann", "bob", "anna"} {
		if strings.Contains(body, ">"+name+"<") {
			return name
		}
	}
	w.t.Fatalf("who is it? %s", body)
	return ""
}
