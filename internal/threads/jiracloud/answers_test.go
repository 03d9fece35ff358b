package jiracloud_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/egress"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/secret"
	"outrigger/internal/threads"
	"outrigger/internal/threads/jiracloud"
)

// now is a whole second, so that a time in a header is exact.
var now = time.Date(2026, 11, 5, 7, 28, 0, 0, time.UTC)

// What each answer comes to, given to each kind of request.
func TestAnswers(t *testing.T) {
	json := map[string]string{"Content-Type": "application/json;charset=UTF-8"}
	with := func(more ...string) map[string]string {
		h := map[string]string{"Content-Type": "application/json"}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	page := map[string]string{"Content-Type": "text/html"}
	for name, test := range map[string]struct {
		answer   cloudsite.Reaction
		kind     threads.TargetFailure
		wait     time.Duration
		declared bool
		message  string // its beginning
	}{
		"401":                {cloudsite.Reaction{Status: 401, Header: json}, threads.TargetRefusesUs, 0, false, "The cloud site does not accept the e-mail address and the API token"},
		"401 in HTML":        {cloudsite.Reaction{Status: 401, Header: page, Body: "<p>Basic authentication with passwords is deprecated"}, threads.TargetRefusesUs, 0, false, "The cloud site does not accept"},
		"an expired token":   {cloudsite.Reaction{Status: 404, Header: with("X-Seraph-Loginreason", "AUTHENTICATED_FAILED"), Body: `{"errorMessages":["Issue does not exist"]}`}, threads.TargetRefusesUs, 0, false, "The cloud site does not accept"},
		"a captcha":          {cloudsite.Reaction{Status: 403, Header: with("X-Seraph-Loginreason", "AUTHENTICATION_DENIED")}, threads.TargetRefusesUs, 0, false, "The cloud site does not accept"},
		"taken for nobody":   {cloudsite.Reaction{Status: 200, Header: with("X-Seraph-Loginreason", "AUTHENTICATED_FAILED"), Body: `{"keys":[]}`}, threads.TargetRefusesUs, 0, false, "The cloud site does not accept"},
		"403":                {cloudsite.Reaction{Status: 403, Header: json}, threads.TargetForbids, 0, false, "The cloud site does not let the account edit issue 7"},
		"400":                {cloudsite.Reaction{Status: 400, Header: json, Body: `{"errorMessages":["Too long."],"errors":{}}`}, threads.TargetForbids, 0, false, "The cloud site refused what was to be done with issue 7: Too long."},
		"413":                {cloudsite.Reaction{Status: 413, Header: page}, threads.TargetForbids, 0, false, "The cloud site refused what was to be done with issue 7"},
		"429":                {cloudsite.Reaction{Status: 429, Header: with("Retry-After", "17", "X-RateLimit-Reset", "2026-11-05T07:30Z", "RateLimit-Reason", "jira-burst-based")}, threads.TargetLimits, 17 * time.Second, true, "The cloud site is asked too often (jira-burst-based)"},
		"429 with a time":    {cloudsite.Reaction{Status: 429, Header: with("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "2026-11-05T07:30:30Z")}, threads.TargetLimits, 150 * time.Second, true, "The cloud site is asked too often"},
		"429 without":        {cloudsite.Reaction{Status: 429, Header: map[string]string{"Content-Type": "text/html", "RateLimit-Reason": "<script>"}}, threads.TargetLimits, 0, false, "The cloud site is asked too often"},
		"500":                {cloudsite.Reaction{Status: 500, Header: json}, threads.TargetFails, 0, false, "The cloud site answered 500"},
		"503 with a wait":    {cloudsite.Reaction{Status: 503, Header: map[string]string{"Content-Type": "text/html", "Retry-After": "3"}}, threads.TargetFails, 3 * time.Second, true, "The cloud site answered 503"},
		"404 in HTML":        {cloudsite.Reaction{Status: 404, Header: page, Body: unavailable}, threads.TargetFails, 0, false, "The cloud site answered 404 Not Found: Page Unavailable Your Atlassian Cloud site is currently unavailable & paused."},
		"404 in plain text":  {cloudsite.Reaction{Status: 404, Header: map[string]string{"Content-Type": "text/plain"}, Body: "Site temporarily\n unavailable"}, threads.TargetFails, 0, false, "The cloud site answered 404 Not Found: Site temporarily unavailable"},
		"404 without words":  {cloudsite.Reaction{Status: 404, Header: page, Body: "<p> "}, threads.TargetFails, 0, false, "The cloud site answered 404 Not Found: no answer of the issue property API; check threads.jira_cloud.url"},
		"503 in other words": {cloudsite.Reaction{Status: 503, Header: json, Body: `{"errorMessage":"Site temporarily unavailable"}`}, threads.TargetFails, 0, false, "The cloud site answered 503 Service Unavailable: Site temporarily unavailable"},
		"a token in a page":  {cloudsite.Reaction{Status: 500, Header: page, Body: "<p>" + token + "</p>"}, threads.TargetFails, 0, false, "The cloud site answered 500 Internal Server Error"},
		"a sign-in page":     {cloudsite.Reaction{Status: 200, Header: page, Body: "<form>"}, threads.TargetFails, 0, false, "The cloud site answered a page instead of JSON"},
		"a redirect":         {cloudsite.Reaction{Status: 302, Header: map[string]string{"Location": "https://id.example/login?continue=secret"}}, threads.TargetRefusesUs, 0, false, "The cloud site sends on to https://id.example; set threads.jira_cloud.url to the URL that answers itself, restart Outrigger, then continue."},
		"a redirect nowhere": {cloudsite.Reaction{Status: 301, Header: json}, threads.TargetRefusesUs, 0, false, "The cloud site sends on to another place"},
		"418":                {cloudsite.Reaction{Status: 418, Header: json, Body: `{"errorMessages":["` + token + `"]}`}, threads.TargetFails, 0, false, "The cloud site answered 418"},
		"our credentials":    {cloudsite.Reaction{Status: 500, Header: json, Body: `{"errors":{"a":"` + basic() + `"}}`}, threads.TargetFails, 0, false, "The cloud site answered 500"},
		"no answer":          {cloudsite.Reaction{Then: cloudsite.HangUp}, threads.TargetFails, 0, false, "The cloud site did not answer"},
	} {
		for _, at := range []string{"list", "GET", "PUT", "DELETE"} {
			t.Run(name+" to "+at, func(t *testing.T) {
				answering := false
				site := cloudsite.New(account(cloudsite.Options{React: func(r cloudsite.Request) *cloudsite.Reaction {
					if answering && (r.Method == at || at == "list" && r.Key == "") && (at != "GET" || r.Key != "") {
						return &test.answer
					}
					return nil
				}}))
				target, err := jiracloud.New(jiracloud.Options{URL: "https://x", User: user, Token: secret.New(token),
					Client: direct{site.Handler()}, Clock: func() time.Time { return now }})
				if err != nil {
					t.Fatal(err)
				}
				write(t, target, 7, many(3, 1))
				answering = true
				after := many(2, 2)
				if at == "DELETE" {
					after = nil
				}
				_, err = target.Write(t.Context(), 7, become(after))
				e := kindOf(t, err)
				if e.Kind != test.kind || e.Wait != test.wait || e.Declared != test.declared || !strings.HasPrefix(err.Error(), test.message) {
					t.Errorf("%+v", e)
				}
				if strings.Contains(err.Error(), token) || strings.Contains(err.Error(), basic()) {
					t.Errorf("it shows the credentials: %v", err)
				}
				if !slices.Equal(seen(t, site, 7), many(3, 1)) {
					t.Error("the map has changed")
				}
			})
		}
	}
}

// unavailable is how a site answers that is switched off.
const unavailable = `<!doctype html><html><head><title>Page Unavailable</title><style>h1 { color: red }</style></head>
<body><script>var site = "x";</script><h1>Your Atlassian Cloud site is&nbsp;currently <b>unavailable</b> &amp; paused.</h1></body></html>`

func basic() string { return base64.StdEncoding.EncodeToString([]byte(user + ":" + token)) }

func TestMissingAndForbiddenIssues(t *testing.T) {
	site, target := play(t, cloudsite.Options{
		Missing:  func(issue int64) bool { return issue == 404 },
		ReadOnly: func(issue int64) bool { return issue == 403 },
	})
	if m, err := target.Read(t.Context(), 403); err != nil || len(m) != 0 {
		t.Errorf("an issue that may be read: %v, %v", m, err)
	}
	_, read := target.Read(t.Context(), 404)
	_, missing := target.Write(t.Context(), 404, become(many(1, 1)))
	_, negative := target.Write(t.Context(), -5, become(many(1, 1)))
	_, forbidden := target.Write(t.Context(), 403, become(many(1, 1)))
	for _, e := range []error{read, missing, negative} {
		if kindOf(t, e).Kind != threads.TargetMissing {
			t.Error(e)
		}
	}
	if kindOf(t, forbidden).Kind != threads.TargetForbids || len(site.Issues()) != 0 {
		t.Error(forbidden, site.Issues())
	}
	// Where the issue goes while it is written to.
	gone := false
	site, target = play(t, cloudsite.Options{Missing: func(int64) bool { return gone }, React: func(r cloudsite.Request) *cloudsite.Reaction {
		gone = gone || r.Method == http.MethodPut
		return nil
	}})
	if _, err := target.Write(t.Context(), 7, become(many(1, 1))); kindOf(t, err).Kind != threads.TargetMissing || len(site.Issues()) != 0 {
		t.Error(err)
	}
}

// Through the real client and a real connection: answers that break off, that are
// too long, and connections that end before or after the work was done.
func TestConnections(t *testing.T) {
	var reaction *cloudsite.Reaction
	var at string
	site := cloudsite.New(account(cloudsite.Options{React: func(r cloudsite.Request) *cloudsite.Reaction {
		if r.Method == at {
			return reaction
		}
		return nil
	}}))
	s := httptest.NewServer(site.Handler())
	defer s.Close()
	out, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	registry, log := prometheus.NewRegistry(), &bytes.Buffer{}
	target, err := jiracloud.New(jiracloud.Options{URL: s.URL, User: user, Token: secret.New(token), Client: out.Trusted(),
		Metrics: registry, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	write(t, target, 7, many(800, 1))
	for name, test := range map[string]struct {
		at       string
		reaction cloudsite.Reaction
		message  string
		written  bool
	}{
		"broken off":      {http.MethodGet, cloudsite.Reaction{Apply: true, Then: cloudsite.BreakOff}, "The cloud site broke off in the middle of its answer", false},
		"too long":        {http.MethodGet, cloudsite.Reaction{Status: 200, Header: map[string]string{"Content-Type": "application/json"}, Body: `{"keys":[` + strings.Repeat(" ", 2<<20) + `]}`}, "The cloud site answered more than 1048576 bytes", false},
		"no list":         {http.MethodGet, cloudsite.Reaction{Status: 200, Header: map[string]string{"Content-Type": "application/json"}, Body: `{"value":1}`}, "The cloud site answered something that is no list of properties", false},
		"hung up":         {http.MethodPut, cloudsite.Reaction{Then: cloudsite.HangUp}, "The cloud site did not answer: 127.0.0.1 closed the connection without an answer", false},
		"done, hung up":   {http.MethodPut, cloudsite.Reaction{Apply: true, Then: cloudsite.HangUp}, "The cloud site did not answer: 127.0.0.1 closed the connection without an answer", true},
		"done, half told": {http.MethodPut, cloudsite.Reaction{Apply: true, Then: cloudsite.BreakOff}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			at = ""
			write(t, target, 7, many(3, 1))
			at, reaction = test.at, &test.reaction
			_, err := target.Write(t.Context(), 7, become(many(4, 2)))
			if got := fmt.Sprint(err); got != test.message && (err != nil || test.message != "") {
				t.Errorf("%s", got)
			}
			if err != nil && kindOf(t, err).Kind != threads.TargetFails {
				t.Errorf("its kind is %d", kindOf(t, err).Kind)
			}
			if slices.Equal(seen(t, site, 7), many(4, 2)) != test.written {
				t.Error("the site has", len(seen(t, site, 7)), "relations")
			}
		})
	}
	at = ""
	site.SetProperty(8, cloudsite.Threads, `{}`)
	if _, err := target.Write(t.Context(), 8, become(many(1, 1))); err == nil || !strings.Contains(log.String(), `issue=8 property=outrigger.threads error="it has another layout"`) {
		t.Errorf("%v; the log has %s", err, log)
	}
	if n, err := testutil.GatherAndCount(registry, "outrigger_threads_cloud_requests_total"); err != nil || n < 4 {
		t.Errorf("%d counters, %v", n, err)
	}
	if text := log.String() + fmt.Sprintf("%+v", target); strings.Contains(text, token) {
		t.Error("the token is shown: ", text)
	}
}

func TestNew(t *testing.T) {
	for _, url := range []string{"", "site.example", "ftp://site.example", "https://ann:ATATT3xSecret@site.example", "https://site.example?x", "https://%zz"} {
		_, err := jiracloud.New(jiracloud.Options{URL: url})
		if err == nil || !strings.Contains(err.Error(), "The cloud site's URL is no base URL") || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
