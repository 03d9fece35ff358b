package bitbucketcloud

import (
	"net/http"
	"slices"
	"strings"

	"outrigger/internal/playground/respond"
)

// Handler serves the platform at the root of a server: OAuth below /site/oauth2
// and the API below /2.0.
func (p *Platform) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /site/oauth2/authorize", p.authorize)
	mux.HandleFunc("POST /site/oauth2/authorize", p.authorize)
	mux.HandleFunc("GET /site/oauth2/authorize.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, web, "web/authorize.css")
	})
	mux.HandleFunc("POST /site/oauth2/access_token", p.accessToken)
	mux.HandleFunc("GET /2.0/hook_events/repository", p.hookEvents)
	const repository = "/2.0/repositories/{workspace}/{slug}"
	for pattern, resource := range map[string]struct {
		scope  string
		handle func(*asking)
	}{
		"GET /2.0/user": {"account", p.user},
		"GET /2.0/user/workspaces/{workspace}/permissions/repositories": {"repository", p.permissions},
		"GET " + repository:                     {"repository", p.oneRepository},
		"GET " + repository + "/pullrequests":   {"pullrequest", p.listPullRequests},
		"GET " + repository + "/hooks":          {"webhook", p.listWebhooks},
		"POST " + repository + "/hooks":         {"webhook", p.createWebhook},
		"PUT " + repository + "/hooks/{uid}":    {"webhook", p.updateWebhook},
		"DELETE " + repository + "/hooks/{uid}": {"webhook", p.deleteWebhook},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { p.ask(w, r, resource.scope, resource.handle) })
	}
	return mux
}

// asking is an authenticated request of the API.
type asking struct {
	w   http.ResponseWriter
	r   *http.Request
	who *Account
}

// ask answers a request with a token of a consumer that has the scope; mu is
// held meanwhile.
func (p *Platform) ask(w http.ResponseWriter, r *http.Request, scope string, handle func(*asking)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &asking{w: w, r: r}
	text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	t := p.access[text]
	switch {
	case !bearer || t == nil:
		a.fail(http.StatusUnauthorized, "Token is invalid, expired, or not supported for this endpoint.")
		return
	case !p.o.Clock().Before(t.expires):
		a.fail(http.StatusUnauthorized, "Access token expired. Use your refresh token to obtain a new access token.")
		return
	}
	a.who = p.o.account(t.account)
	if consumer := p.consumers[t.consumer]; a.who == nil || consumer == nil {
		a.fail(http.StatusUnauthorized, "Token is invalid, expired, or not supported for this endpoint.")
	} else if !slices.Contains(consumer.Scopes, scope) {
		a.lacks(scope, consumer.Scopes)
	} else {
		handle(a)
	}
}

func (a *asking) answer(status int, body any) {
	respond.JSON(a.w, status, body)
}

// fail answers an error as the platform words it.
func (a *asking) fail(status int, message string) {
	a.answer(status, map[string]any{"type": "error", "error": map[string]any{"message": message}})
}

func (a *asking) lacks(scope string, granted []string) {
	a.answer(http.StatusForbidden, map[string]any{"type": "error", "error": map[string]any{
		"message": "Your credentials lack one or more required privilege scopes.",
		"detail":  map[string]any{"required": []string{scope}, "granted": granted},
	}})
}
