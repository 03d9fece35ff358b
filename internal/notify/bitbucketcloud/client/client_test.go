package client

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/egress/egresstest"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// played is a client of a played platform, with an account's token.
type played struct {
	*Client
	platform *playgroundtest.Cloud
	c        *notify.Connection
	token    secret.Value
	refresh  secret.Value
	now      time.Time
}

const callback = "https://out.example.com/oauth/cloud"

func play(t *testing.T, o bitbucketcloud.Options) *played {
	t.Helper()
	p := &played{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	o.Clock = func() time.Time { return p.now }
	if o.Accounts == nil {
		o.Accounts = []bitbucketcloud.Account{
			{ID: "712020:ana", UUID: "{a}", DisplayName: "Ana", Nickname: "ana"}, {ID: "712020:ben", UUID: "{b}", DisplayName: "Ben"},
		}
	}
	if o.Consumers == nil {
		o.Consumers = []bitbucketcloud.Consumer{{
			Key: "key", Secret: "s3cret&+ %", Name: "Outrigger", Callback: callback,
			Scopes: []string{"account", "repository", "pullrequest", "webhook"},
		}}
	}
	if o.Repositories == nil {
		o.Repositories = []bitbucketcloud.Repository{{
			Workspace: "acme", Slug: "shop", Permissions: map[string]string{"712020:ana": "admin", "712020:ben": "write"},
		}, {
			Workspace: "acme", Slug: "shop-2", Permissions: map[string]string{"712020:ben": "admin"},
		}}
	}
	p.platform = playgroundtest.NewCloud(o)
	server := httptest.NewServer(p.platform.Handler())
	t.Cleanup(server.Close)
	out := egresstest.Client(t)
	p.Client = New(out.Trusted(), func() time.Time { return p.now })
	p.c = &notify.Connection{Name: "cloud", BaseURL: server.URL + "/", OAuthClientID: "key", OAuthClientSecret: secret.New("s3cret&+ %")}
	p.authorise(t, o.Accounts[0].ID)
	return p
}

// authorise gets the tokens of an account as a person does.
func (p *played) authorise(t *testing.T, account string) {
	t.Helper()
	answer, _ := p.platform.Grant(p.AuthorizeURL(p.c, "state", "", callback), account)
	tokens, err := p.Exchange(t.Context(), p.c, answer.Get("code"), "", callback)
	if err != nil {
		t.Fatal(err)
	}
	p.token, p.refresh = tokens.Access, tokens.Refresh
}

// says checks that err is fault.Unavailable, says what is wanted and holds no
// secret.
func (p *played) says(t *testing.T, err error, want string) {
	t.Helper()
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, want) {
		t.Errorf("%v; want %q", err, want)
	}
	for _, hidden := range []secret.Value{p.token, p.refresh, p.c.OAuthClientSecret} {
		if err != nil && strings.Contains(err.Error(), hidden.Reveal()) {
			t.Errorf("%v holds a secret", err)
		}
	}
}

func TestWhereTheAPIIs(t *testing.T) {
	for baseURL, want := range map[string]string{
		"https://bitbucket.org":         "https://api.bitbucket.org/2.0",
		"https://Bitbucket.org/":        "https://api.bitbucket.org/2.0",
		"http://127.0.0.1:8080":         "http://127.0.0.1:8080/2.0",
		"https://cloud.example.com/bb/": "https://cloud.example.com/bb/2.0",
	} {
		if got := apiOf(&notify.Connection{BaseURL: baseURL}); got != want {
			t.Errorf("%s: %s", baseURL, got)
		}
	}
}

func TestUser(t *testing.T) {
	p := play(t, bitbucketcloud.Options{})
	want := Account{ID: "712020:ana", UUID: "{a}", DisplayName: "Ana", Nickname: "ana"}
	if got, err := p.User(t.Context(), p.c, p.token); got != want || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	p.platform.SetConsumer(bitbucketcloud.Consumer{Key: "key", Secret: "s3cret&+ %", Scopes: []string{"repository"}})
	_, err := p.User(t.Context(), p.c, p.token)
	p.says(t, err, "403 Forbidden, Your credentials lack one or more required privilege scopes. Give the platform's OAuth consumer the permission account, and authorise Outrigger again.")
}

func TestAdministers(t *testing.T) {
	p := play(t, bitbucketcloud.Options{})
	ask := func(workspace, slug string) (bool, error) {
		return p.Administers(t.Context(), p.c, p.token, notify.RepositoryRef{ProjectKey: workspace, RepositoryKey: slug})
	}
	check := func(account string, want map[string]bool) {
		t.Helper()
		p.authorise(t, account)
		for name, want := range want {
			workspace, slug, _ := strings.Cut(name, "/")
			if got, err := ask(workspace, slug); got != want || err != nil {
				t.Errorf("%s of %s: %v, %v", account, name, got, err)
			}
		}
	}
	check("712020:ana", map[string]bool{
		"acme/shop": true, "ACME/Shop": true, "acme/shop-2": false, "acme/none": false, "other/shop": false, `acme/sh"op`: false, `acme/shop" OR "1`: false,
	})
	check("712020:ben", map[string]bool{"acme/shop": false, "acme/shop-2": true})

	p.platform.Withdraw("712020:ben")
	if _, err := ask("acme", "shop-2"); !TokenRefused(err) || Withdrawn(err) {
		t.Errorf("%v", err)
	}
	p.authorise(t, "712020:ben")
	p.platform.SetConsumer(bitbucketcloud.Consumer{Key: "key", Scopes: []string{"account"}})
	if _, err := ask("acme", "shop-2"); err == nil {
		t.Error("without the scope it is not known who administers")
	}
}

func TestAuthorizeURL(t *testing.T) {
	cl := New(nil, nil)
	c := &notify.Connection{BaseURL: "https://bitbucket.org", OAuthClientID: "key"}
	u, err := url.Parse(cl.AuthorizeURL(c, "a&b", "challenge", callback))
	if err != nil || u.Host != "bitbucket.org" || u.Path != "/site/oauth2/authorize" {
		t.Fatal(u, err)
	}
	want := url.Values{
		"client_id": {"key"}, "response_type": {"code"}, "state": {"a&b"}, "redirect_uri": {callback},
		"code_challenge": {"challenge"}, "code_challenge_method": {"S256"},
	}
	if got := u.Query(); got.Encode() != want.Encode() {
		t.Errorf("%v", got)
	}
	if u := cl.AuthorizeURL(c, "s", "", callback); strings.Contains(u, "challenge") {
		t.Errorf("no challenge: %s", u)
	}
}
