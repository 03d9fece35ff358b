package bitbucket

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"outrigger/internal/playground/respond"
)

// api is where the REST API is, below the base URL. The vendor takes "latest"
// and a version.
const api = "/rest/api/latest"

// Handler serves the platform at the root of a server.
func (p *Platform) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api+"/application-properties", p.properties)
	mux.HandleFunc("GET "+oauth+"/authorize", p.authorize)
	mux.HandleFunc("POST "+oauth+"/authorize", p.authorize)
	mux.HandleFunc("POST "+oauth+"/token", p.issueToken)
	for pattern, handle := range map[string]func(*asking){
		"GET " + api + "/users":                                               p.listUsers,
		"GET " + api + "/groups":                                              p.listGroups,
		"GET " + api + "/projects":                                            p.listProjects,
		"GET " + api + "/repos":                                               p.listAllRepositories,
		"GET " + api + "/projects/{project}/repos/{repository}":               p.oneRepository,
		"GET " + api + "/projects/{project}/repos/{repository}/pull-requests": p.listPullRequests,
		"GET " + api + "/projects/{project}/webhooks":                         p.listWebhooks,
		"POST " + api + "/projects/{project}/webhooks":                        p.createWebhook,
		"PUT " + api + "/projects/{project}/webhooks/{id}":                    p.updateWebhook,
		"GET " + api + "/projects/{project}/webhooks/{id}/statistics":         p.webhookStatistics,
		"GET /rest/build-status/latest/commits/{commit}":                      p.listBuilds,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { p.ask(w, r, handle) })
	}
	return mux
}

// asking is an authenticated request.
type asking struct {
	w     http.ResponseWriter
	r     *http.Request
	who   *User  // nil: the bearer of the token
	scope string // of an OAuth token; "": it is none
}

// ask answers a request with credentials; mu is held
// meanwhile.
func (p *Platform) ask(w http.ResponseWriter, r *http.Request, handle func(*asking)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &asking{w: w, r: r}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	name, password, basic := r.BasicAuth()
	switch {
	case bearer && p.o.Token != "" && token == p.o.Token:
	case bearer && p.tokens[token].user != "":
		a.who, a.scope = p.o.User(p.tokens[token].user), p.tokens[token].scope
	case basic && p.signsIn(name, password) != nil:
		a.who = p.signsIn(name, password)
	case !bearer && !basic && p.o.Token == "" && len(p.o.Users) == 0:
	default:
		a.fail(http.StatusUnauthorized, "AuthenticationException", "Authentication failed. Please check your credentials and try again.")
		return
	}
	if a.who != nil {
		w.Header().Set("X-AUSERNAME", url.PathEscape(a.who.Name))
	}
	handle(a)
}

// signsIn returns the user with that password; names have no case.
func (p *Platform) signsIn(name, password string) *User {
	for i := range p.o.Users {
		if u := &p.o.Users[i]; strings.EqualFold(u.Name, name) && u.Password != "" && u.Password == password {
			return u
		}
	}
	return nil
}

// properties says what the platform is, to everybody; wrong credentials are
// refused all the same.
func (p *Platform) properties(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") == "" {
		(&asking{w: w, r: r}).answer(http.StatusOK, application)
		return
	}
	p.ask(w, r, func(a *asking) { a.answer(http.StatusOK, application) })
}

var application = map[string]string{"version": "9.4.2", "buildNumber": "9004002", "displayName": "Bitbucket"}

func (a *asking) answer(status int, body any) {
	respond.JSON(a.w, status, body)
}

// fail answers an error as the platform words it.
func (a *asking) fail(status int, exception, message string) {
	a.answer(status, map[string]any{"errors": []any{map[string]any{
		"context": nil, "message": message, "exceptionName": "com.atlassian.bitbucket." + exception,
	}}})
}

// page answers one page of values: 25 unless limit says otherwise, and never
// more than the platform's own most. The next begins at nextPageStart.
func page(p *Platform, a *asking, values []any) {
	if values == nil {
		values = []any{} // which JSON does not write as null
	}
	start := number(a.r, "start", 0)
	limit := min(number(a.r, "limit", 25), p.o.MaxPage)
	from := min(start, len(values))
	to := min(from+limit, len(values))
	out := map[string]any{"size": to - from, "limit": limit, "start": start, "isLastPage": to == len(values), "values": values[from:to]}
	if to < len(values) {
		out["nextPageStart"] = to
	}
	a.answer(http.StatusOK, out)
}

func number(r *http.Request, name string, otherwise int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}
