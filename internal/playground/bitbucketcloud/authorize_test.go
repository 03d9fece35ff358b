package bitbucketcloud

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const callback = "https://out.example.com/oauth/cloud"

func serve(t *testing.T, o Options) (*Platform, string, *http.Client) {
	t.Helper()
	o.Accounts = []Account{{ID: "712020:ana", UUID: "{a}", DisplayName: "Ana <b>"}, {ID: "712020:ben", UUID: "{b}", DisplayName: "Ben"}}
	o.Consumers = []Consumer{{Key: "key", Secret: "s3cret", Name: "Outrigger", Callback: callback, Scopes: []string{"account", "webhook"}}}
	o.Repositories = []Repository{{Workspace: "acme", Slug: "shop", Permissions: map[string]string{"712020:ana": "admin"}}}
	p := New(o)
	server := httptest.NewServer(p.Handler())
	t.Cleanup(server.Close)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(client.CloseIdleConnections)
	return p, server.URL, client
}

func read(t *testing.T, resp *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func authorizeURL(base string, query url.Values) string {
	all := url.Values{"client_id": {"key"}, "response_type": {"code"}, "state": {"st&te"}, "redirect_uri": {callback}}
	for name, values := range query {
		all[name] = values
	}
	return base + "/site/oauth2/authorize?" + all.Encode()
}

// A person sees who asks for what, chooses an account and grants access or not.
func TestConsent(t *testing.T) {
	_, base, client := serve(t, Options{})
	address := authorizeURL(base, nil)
	resp, err := client.Get(address)
	page := read(t, resp, err)
	for _, want := range []string{"<strong>Outrigger</strong>", "<code>webhook</code>", "Ana &lt;b&gt;", `value="712020:ben"`, "Grant access", "Cancel"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	// Browsers hold the redirect after a form to form-action too.
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self' https://out.example.com;") && !strings.HasSuffix(policy, "form-action 'self' https://out.example.com") {
		t.Error(policy)
	}
	answer := func(form url.Values) url.Values {
		resp, err := client.PostForm(address, form)
		read(t, resp, err)
		to, err := url.Parse(resp.Header.Get("Location"))
		if err != nil || resp.StatusCode != 302 || !strings.HasPrefix(to.String(), callback+"?") || to.Query().Get("state") != "st&te" {
			t.Fatal(resp.Status, to, err)
		}
		return to.Query()
	}
	if got := answer(url.Values{"answer": {"cancel"}, "account": {"712020:ana"}}); got.Get("error") != "access_denied" || got.Has("code") {
		t.Error(got)
	}
	if got := answer(url.Values{"answer": {"grant"}, "account": {"712020:ben"}}); got.Get("code") == "" || got.Has("error") {
		t.Error(got)
	}
	resp, err = client.PostForm(address, url.Values{"answer": {"grant"}, "account": {"712020:eve"}})
	if read(t, resp, err); resp.StatusCode != 400 {
		t.Error("an account that does not exist: ", resp.Status)
	}
}

// No redirect leads to an address that is not registered.
func TestAuthorizeRequestsThatAreRefused(t *testing.T) {
	_, base, client := serve(t, Options{})
	for name, c := range map[string]struct {
		query url.Values
		want  string
	}{
		"another consumer":  {url.Values{"client_id": {"other"}}, "Invalid client_id"},
		"another redirect":  {url.Values{"redirect_uri": {"https://evil.example.net/"}}, "Invalid redirect_uri"},
		"a longer host":     {url.Values{"redirect_uri": {"https://out.example.com.evil.example.net/oauth/cloud"}}, "Invalid redirect_uri"},
		"a longer path":     {url.Values{"redirect_uri": {callback + "-evil"}}, "Invalid redirect_uri"},
		"a plain challenge": {url.Values{"code_challenge": {"c"}}, "Unsupported code_challenge_method"},
	} {
		resp, err := client.Get(authorizeURL(base, c.query))
		if page := read(t, resp, err); resp.StatusCode != 400 || !strings.Contains(page, c.want) || resp.Header.Get("Location") != "" {
			t.Errorf("%s: %s %s", name, resp.Status, page)
		}
	}
	for _, redirect := range []string{callback, callback + "/x", callback + "?x=1"} {
		resp, err := client.Get(authorizeURL(base, url.Values{"redirect_uri": {redirect}}))
		if read(t, resp, err); resp.StatusCode != 200 {
			t.Error(redirect, resp.Status)
		}
	}
	resp, err := client.Get(authorizeURL(base, url.Values{"response_type": {"token"}}))
	if read(t, resp, err); !strings.Contains(resp.Header.Get("Location"), "error=unsupported_response_type") {
		t.Error(resp.Header)
	}
}

// The vendor's own platform has no PKCE yet.
func TestWithoutPKCE(t *testing.T) {
	p, base, _ := serve(t, Options{WithoutPKCE: true})
	query, _ := p.Grant(authorizeURL(base, url.Values{"code_challenge": {"c"}, "code_challenge_method": {"S256"}}), "712020:ana")
	if body := exchange(t, base, query.Get("code")); !strings.Contains(body, `"scopes":"account webhook"`) {
		t.Error(body)
	}
	if access, refresh := p.Tokens("712020:ana"); access != 1 || refresh != 1 {
		t.Error(access, refresh)
	}
}

// exchange gets tokens for a code, and returns the answer.
func exchange(t *testing.T, base, code string) string {
	t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}}
	r, err := http.NewRequest(http.MethodPost, base+"/site/oauth2/access_token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("key", "s3cret")
	resp, err := http.DefaultTransport.RoundTrip(r)
	body := read(t, resp, err)
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, body)
	}
	return body
}
