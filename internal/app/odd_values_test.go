package app

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

// oddValues are what a hostile client writes into paths, queries and forms.
var oddValues = []string{
	"\x00", "a\x00b", "\xff\xfe", "\u202e\u2028", "'\"<b>", "../../etc", "-1", "9223372036854775808", "1e400", strings.Repeat("é", 4000),
}

// queriesOfPages are the names of the parameters that pages read.
var queriesOfPages = []string{
	"id", "after", "before", "connection", "project", "projectKey", "repository", "repositoryKey", "workspace", "level", "state", "rule", "report",
	"channel", "q", "type", "fate", "since", "until", "who", "area", "action", "object", "node", "sort", "from", "to", "sender", "subject", "age", "place", "time",
}

// TestEveryRouteWithOddValues sends them wherever a text may stand. What is
// no text for the database is refused, or found nowhere; it is not its error.
func TestEveryRouteWithOddValues(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*testing.T, *config.Config){
		"sqlite": func(*testing.T, *config.Config) {},
		"postgres": func(t *testing.T, cfg *config.Config) {
			cfg.DatabaseURL = secret.New(dbtest.PostgresURL(t, migrations()...))
			cfg.SecretKey = secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(t)
			database(t, cfg)
			cfg.Notify.Connections = []config.Connection{{Name: "main", Kind: config.KindBitbucketDC, BaseURL: "http://127.0.0.1:1", WebhookSecret: secret.New("hook secret")}}
			p := &permissionTable{App: start(t, cfg), t: t}
			session, token := p.signIn("admin"), p.token("admin", "all")
			ask := func(method, target, session, token string) (status int) {
				r, err := http.NewRequest(method, "http://"+p.Addr()+target, nil)
				if err != nil {
					t.Fatal(err)
				}
				if token != "" {
					r.Header.Set("Authorization", token)
				} else {
					r.AddCookie(&http.Cookie{Name: "outrigger_session", Value: session})
				}
				resp, err := http.DefaultTransport.RoundTrip(r)
				if err != nil {
					t.Fatalf("%s %.200s: %v", method, target, err)
				}
				_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusInternalServerError {
					t.Errorf("%s %.200s: %d", method, target, resp.StatusCode)
				}
				return resp.StatusCode
			}
			for _, name := range append(oddValues, "a"+strings.Repeat("é", 1000)) {
				basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":wrong"))
				ask("GET", "/rest/outrigger/1.0/tokens", "", basic)
			}
			for _, r := range p.router.Routes() {
				if r.Raw || strings.Contains(r.Path, "nodes") || r.Method != "GET" && r.Method != "DELETE" {
					continue
				}
				for _, value := range oddValues {
					path := wildcard.ReplaceAllLiteralString(r.Path, url.PathEscape(value))
					if path != r.Path {
						ask(r.Method, path, "", token)
					}
					for _, name := range r.Query {
						ask(r.Method, wildcard.ReplaceAllLiteralString(r.Path, "main")+"?"+url.Values{name: {value}}.Encode(), "", token)
					}
				}
			}
			for i, pattern := range p.pages.Patterns() {
				method, path, _ := strings.Cut(pattern, " ")
				if method != "GET" || strings.Contains(path, "live") {
					continue
				}
				noText := oddValues[:3] // for PostgreSQL
				for _, value := range noText {
					if odd := wildcard.ReplaceAllLiteralString(path, url.PathEscape(value)); odd != path {
						ask(method, odd, session, "")
					}
				}
				if wildcard.MatchString(path) || strings.Contains(path, "sign") {
					continue
				}
				// All at once, and each by itself where one is refused before others are read.
				all := url.Values{}
				for j, name := range queriesOfPages {
					all.Set(name, noText[(i+j)%len(noText)])
				}
				if ask(method, path+"?"+all.Encode(), session, "") == http.StatusOK {
					continue
				}
				for name, value := range all {
					ask(method, path+"?"+url.Values{name: value}.Encode(), session, "")
				}
			}
		})
	}
}
