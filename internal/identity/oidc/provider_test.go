package oidc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/config"
	"outrigger/internal/egress/egresstest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/playground/openid"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const callback = "https://tools.example.com/outrigger/sign-in/oidc/callback"

// exchange is a played provider and a client of it, each with its own clock.
type exchange struct {
	*testing.T
	played *playgroundtest.OpenID
	*Provider
	clock identitytest.Clock // the client's
}

func newExchange(t *testing.T, o openid.Options, change ...func(*Options)) *exchange {
	t.Helper()
	o.Client = openid.Client{ID: "outrigger", Secret: "a secret & more", Callback: callback}
	if o.Accounts == nil {
		o.Accounts = []openid.Account{{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann"}}}
	}
	x := &exchange{T: t, played: playgroundtest.NewOpenID(o)}
	server := httptest.NewServer(x.played.Handler())
	t.Cleanup(server.Close)
	out := egresstest.Client(t)
	options := Options{
		OIDC: config.OIDC{
			Issuer: server.URL, ClientID: "outrigger", ClientSecret: secret.New("a secret & more"), Name: "the company",
			Scopes: []string{"openid"}, UserClaim: "preferred_username",
		},
		Callback: callback, Issued: out.Trusted(), Named: out.Webhook(), Clock: x.clock.Now,
	}
	for _, c := range change {
		c(&options)
	}
	var err error
	if x.Provider, err = New(options); err != nil {
		t.Fatal(err)
	}
	return x
}

var proofs = identity.Proofs{State: "the-state", Verifier: strings.Repeat("v", 43), Nonce: "the-nonce"}

// code signs in on the provider's page.
func (x *exchange) code(account string) secret.Value {
	x.Helper()
	location, err := x.Location(x.Context(), proofs)
	if err != nil {
		x.Fatal(err)
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.PostForm(location, url.Values{"account": {account}, "answer": {"yes"}})
	if err != nil {
		x.Fatal(err)
	}
	resp.Body.Close()
	back, err := resp.Location()
	if err != nil || !strings.HasPrefix(back.String(), callback) || back.Query().Get("state") != proofs.State {
		x.Fatalf("sent to %s, %v", back, err)
	}
	return secret.New(back.Query().Get("code"))
}

func (x *exchange) account(account string) (identity.Account, error) {
	x.Helper()
	return x.Account(x.Context(), x.code(account), proofs)
}

// A code is exchanged once, with the secret where the provider wants it, for the
// account with its groups.
func TestAccount(t *testing.T) {
	for _, inBody := range []bool{false, true} {
		x := newExchange(t, openid.Options{InBody: inBody, Accounts: []openid.Account{
			{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann", "roles": []any{"a", 1, "b"}}},
		}}, func(o *Options) { o.GroupsClaim = "roles" })
		code := x.code("s-ann")
		a, err := x.Account(t.Context(), code, proofs)
		if err != nil || a.Name != "ann" || a.Subject != x.o.Issuer+" s-ann" || strings.Join(a.Groups, " ") != "a b" || a.Directory != nil {
			t.Errorf("%+v, %v", a, err)
		}
		if _, err := x.Account(t.Context(), code, proofs); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the code again: %v", err)
		}
		other := proofs
		other.Verifier = strings.Repeat("w", 43)
		if _, err := x.Account(t.Context(), x.code("s-ann"), other); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("without the verifier: %v", err)
		}
		other = proofs
		other.Nonce = "another"
		if _, err := x.Account(t.Context(), x.code("s-ann"), other); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("of another sign-in: %v", err)
		}
	}
}

// An e-mail address names a user where the provider has verified it.
func TestEMailAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		claims, info map[string]any
		ok           bool
	}{
		"verified":             {map[string]any{"email": "ann@example.com", "email_verified": true}, nil, true},
		"verified, as a text":  {map[string]any{"email": "ann@example.com", "email_verified": "true"}, nil, true},
		"verified by userinfo": {map[string]any{"email": "ann@example.com"}, map[string]any{"email_verified": true}, true},
		"all by userinfo":      {nil, map[string]any{"email": "ann@example.com", "email_verified": true}, true},
		"not verified":         {map[string]any{"email": "ann@example.com", "email_verified": false}, map[string]any{"email_verified": true}, false},
		"nothing said":         {map[string]any{"email": "ann@example.com"}, nil, false},
		"none":                 {map[string]any{"email_verified": true}, nil, false},
	} {
		x := newExchange(t, openid.Options{Accounts: []openid.Account{{Subject: "s", Claims: c.claims, Info: c.info}}}, func(o *Options) { o.UserClaim = "email" })
		a, err := x.account("s")
		if (err == nil) != c.ok || c.ok && a.Name != "ann@example.com" || err != nil && !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// When the user signed in is taken from the ID token alone.
func TestTheTimeOfASignInIsOfTheIDToken(t *testing.T) {
	for _, lie := range []playgroundtest.Lie{"", playgroundtest.NoAuthTime} {
		x := newExchange(t, openid.Options{Accounts: []openid.Account{
			{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann"}, Info: map[string]any{"auth_time": time.Now().Unix(), "roles": []any{"a"}}},
		}}, func(o *Options) { o.GroupsClaim = "roles" })
		x.played.SetLie(lie)
		a, err := x.account("s-ann")
		if err != nil || len(a.Groups) != 1 || a.AuthenticatedAt.IsZero() != (lie == playgroundtest.NoAuthTime) {
			t.Errorf("%q: %+v, %v", lie, a, err)
		}
	}
}

// An answer that names another issuer is refused, and one that names none where the
// provider says that it names itself; the code is not shown to anybody then.
func TestAnswersOfOtherIssuers(t *testing.T) {
	for _, names := range []bool{false, true} {
		x := newExchange(t, openid.Options{NamesItself: names})
		for issuer, ok := range map[string]bool{"": !names, x.o.Issuer: true, "https://evil.example": false, x.o.Issuer + "/": false} {
			with, asked := proofs, x.played.Asked("/token")
			with.Issuer = issuer
			_, err := x.Account(t.Context(), x.code("s-ann"), with)
			if (err == nil) != ok || err != nil && (!fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), "(iss)")) {
				t.Errorf("names itself: %t, issuer %q: %v", names, issuer, err)
			}
			if n := x.played.Asked("/token") - asked; (n > 0) != ok {
				t.Errorf("names itself: %t, issuer %q: %d codes are exchanged", names, issuer, n)
			}
		}
	}
}

// The provider is asked for its configuration once an hour, by many at once too, and
// after a failure not before 5 s.
func TestDiscovery(t *testing.T) {
	x := newExchange(t, openid.Options{})
	asked := func() int { return x.played.Asked("openid-configuration") }
	x.played.SetFault("openid-configuration", playgroundtest.Fault{Kind: playgroundtest.Broken})
	for range 3 {
		if _, err := x.Location(t.Context(), proofs); !fault.Is(err, fault.Unavailable) || asked() != 1 {
			t.Errorf("%v, asked %d times", err, asked())
		}
	}
	x.played.SetFault("openid-configuration", playgroundtest.Fault{})
	x.clock.Move(failedFor)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := x.Location(t.Context(), proofs); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if asked() != 2 {
		t.Errorf("asked %d times", asked())
	}
	x.clock.Move(discoveredFor)
	x.played.SetFault("openid-configuration", playgroundtest.Fault{Kind: playgroundtest.Broken})
	for range 3 {
		if _, err := x.Location(t.Context(), proofs); err != nil || asked() != 3 {
			t.Errorf("the configuration before: %v, asked %d times", err, asked())
		}
	}
}

// A new key is taken when it signs; an ID token is taken for a minute after its end,
// which clocks may differ by, and no longer.
func TestKeysAndClocks(t *testing.T) {
	x := newExchange(t, openid.Options{})
	for range 2 {
		if _, err := x.account("s-ann"); err != nil {
			t.Fatal(err)
		}
	}
	if n := x.played.Asked("/keys"); n != 1 {
		t.Errorf("the keys are asked for %d times", n)
	}
	x.played.RotateKey()
	if _, err := x.account("s-ann"); err != nil {
		t.Errorf("a new key: %v", err)
	}
	x.clock.Move(5*time.Minute + skew - 5*time.Second)
	if _, err := x.account("s-ann"); err != nil {
		t.Errorf("a clock that is behind: %v", err)
	}
	x.clock.Move(10 * time.Second)
	if _, err := x.account("s-ann"); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("over: %v", err)
	}
	x.clock.Move(-5*time.Minute - skew - 5*time.Second) // as the provider's
	for move, ok := range map[time.Duration]bool{skew - 10*time.Second: true, skew + 10*time.Second: false} {
		x.clock.Move(-move)
		if _, err := x.account("s-ann"); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "in the future") {
			t.Errorf("the provider's clock is %v ahead: %v", move, err)
		}
		x.clock.Move(move)
	}
}

// A provider that never answers is waited for no longer than the one who asks does.
func TestSilentProvider(t *testing.T) {
	for _, at := range []string{"openid-configuration", "/token", "/keys"} {
		x := newExchange(t, openid.Options{}, func(o *Options) {
			o.Issued = &http.Client{Timeout: 300 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}} // egress waits for 10 s
		})
		x.played.SetFault(at, playgroundtest.Fault{Kind: playgroundtest.Silent})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		var err error
		if at == "openid-configuration" {
			_, err = x.Location(ctx, proofs)
		} else {
			_, err = x.Account(ctx, x.code("s-ann"), proofs)
		}
		cancel()
		if err == nil {
			t.Errorf("%s: no error", at)
		}
		x.played.SetFault(at, playgroundtest.Fault{})
	}
}

// Errors are short, in our words for strangers, with the provider's for the log.
func TestErrors(t *testing.T) {
	x := newExchange(t, openid.Options{})
	x.played.SetFault("/token", playgroundtest.Fault{Kind: playgroundtest.Broken})
	_, err := x.account("s-ann")
	if f := fault.As(err); f.Code != fault.Unavailable || strings.Contains(f.Message, "evil") || !strings.Contains(err.Error(), "server_error") {
		t.Errorf("%v", err)
	}
	for kind, at := range map[playgroundtest.Kind]string{playgroundtest.Chattering: "/token", playgroundtest.Proxied: "/token", playgroundtest.Redirecting: "/token"} {
		x.played.SetFault(at, playgroundtest.Fault{Kind: kind})
		_, err := x.account("s-ann")
		if !fault.Is(err, fault.Unavailable) || len(err.Error()) > 1000 {
			t.Errorf("%s: %d bytes, %.1000v", kind, len(err.Error()), err)
		}
	}
	if _, err := New(Options{OIDC: config.OIDC{Issuer: "company"}}); err == nil {
		t.Error("an issuer that is no URL")
	}
	if err := shortened(errors.New(strings.Repeat("ü", 1000))); len([]rune(err.Error())) != maxReason+1 {
		t.Errorf("%d", len(err.Error()))
	}
}

// doer answers every request with the same body.
type doer struct{ body io.Reader }

func (d doer) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(d.body)}, nil
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// Of an answer that does not end no more is held than of a long one.
func TestAnswersAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		body io.Reader
		want int
		ok   bool
	}{
		"endless":   {endless{}, maxAnswer + 1, false},
		"too long":  {io.LimitReader(endless{}, maxAnswer+1), maxAnswer + 1, false},
		"just long": {io.LimitReader(endless{}, maxAnswer), maxAnswer, true},
	} {
		tr := &transport{issuer: new(url.URL), issued: doer{c.body}, named: doer{c.body}}
		resp, err := tr.RoundTrip(httptest.NewRequest("GET", "https://company.example/", nil))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if len(body) != c.want || (err == nil) != c.ok {
			t.Errorf("%s: %d bytes, %v", name, len(body), err)
		}
		resp.Body.Close()
	}
}

// Endpoints on other hosts are judged as addresses that users give are.
func TestEndpointsElsewhere(t *testing.T) {
	x := newExchange(t, openid.Options{})
	x.played.SetLie(playgroundtest.PlainEndpoints)
	if _, err := x.account("s-ann"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "may not be dialled") {
		t.Errorf("%v", err)
	}
	secure, err := New(Options{OIDC: config.OIDC{Issuer: "https://company.example"}})
	if err != nil {
		t.Fatal(err)
	}
	for address, ok := range map[string]bool{
		"https://company.example/token": true, "https://tokens.example/": true, "http://company.example/token": false,
		"": false, "/token": false, "javascript:alert(1)": false, "https://user@company.example/": false, "https://%zz/": false,
	} {
		if err := secure.judge(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}
