package client

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // of RFC 7636 appendix B

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func TestExchange(t *testing.T) {
	p := play(t, bitbucketcloud.Options{})
	answer, redirect := p.platform.Grant(p.AuthorizeURL(p.c, "state", challenge(), callback), "712020:ben")
	if answer.Get("state") != "state" || redirect != callback {
		t.Fatal(answer, redirect)
	}
	got, err := p.Exchange(t.Context(), p.c, answer.Get("code"), verifier, callback)
	if err != nil || got.Access.IsZero() || got.Refresh.IsZero() || !got.Expires.Equal(p.now.Add(2*time.Hour)) {
		t.Fatalf("%+v, %v", got, err)
	}
	if who, err := p.User(t.Context(), p.c, got.Access); who.DisplayName != "Ben" || err != nil {
		t.Errorf("%+v, %v", who, err)
	}
}

// A code is of one consumer, one redirect URI and one challenge, for some
// minutes, and once.
func TestCodesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		verifier, redirect string
		change             func(p *played, code *string)
	}{
		"another redirect URI": {verifier, callback + "?a", nil},
		"another verifier":     {"wrong", callback, nil},
		"no verifier":          {"", callback, nil},
		"made up":              {verifier, callback, func(_ *played, code *string) { *code = "FORGED" }},
		"too old":              {verifier, callback, func(p *played, _ *string) { p.now = p.now.Add(11 * time.Minute) }},
		"another consumer's": {verifier, callback, func(p *played, _ *string) {
			p.platform.SetConsumer(bitbucketcloud.Consumer{Key: "other", Secret: "0ther", Callback: callback})
			p.c.OAuthClientID, p.c.OAuthClientSecret = "other", secret.New("0ther")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, bitbucketcloud.Options{})
			answer, _ := p.platform.Grant(p.AuthorizeURL(p.c, "s", challenge(), callback), "712020:ana")
			code := answer.Get("code")
			if c.change != nil {
				c.change(p, &code)
			}
			_, err := p.Exchange(t.Context(), p.c, code, c.verifier, c.redirect)
			p.says(t, err, "400 Bad Request, invalid_grant: ")
			if !CodeRefused(err) || Withdrawn(err) || TokenRefused(err) || strings.Contains(err.Error(), code) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A code that comes twice takes back what it gave the first time (RFC 6749
// 4.1.2): one of the two was a thief's.
func TestACodeUsedTwice(t *testing.T) {
	p := play(t, bitbucketcloud.Options{})
	answer, _ := p.platform.Grant(p.AuthorizeURL(p.c, "s", "", callback), "712020:ben")
	first, err := p.Exchange(t.Context(), p.c, answer.Get("code"), "", callback)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Exchange(t.Context(), p.c, answer.Get("code"), "", callback); !CodeRefused(err) {
		t.Errorf("%v", err)
	}
	if _, err := p.User(t.Context(), p.c, first.Access); !TokenRefused(err) {
		t.Errorf("%v", err)
	}
	if _, err := p.User(t.Context(), p.c, p.token); err != nil {
		t.Errorf("another account's: %v", err)
	}
}

func TestRefresh(t *testing.T) {
	for name, rotate := range map[string]bool{"the same refresh token": false, "another refresh token each time": true} {
		t.Run(name, func(t *testing.T) {
			p := play(t, bitbucketcloud.Options{RotateRefresh: rotate})
			p.now = p.now.Add(3 * time.Hour)
			_, err := p.User(t.Context(), p.c, p.token)
			p.says(t, err, "401 Unauthorized, Access token expired. Use your refresh token to obtain a new access token.")
			if !TokenRefused(err) {
				t.Errorf("%v", err)
			}
			got, err := p.Refresh(t.Context(), p.c, p.refresh)
			if err != nil || (got.Refresh.Reveal() != p.refresh.Reveal()) != rotate || !got.Expires.Equal(p.now.Add(2*time.Hour)) {
				t.Fatalf("%+v, %v", got, err)
			}
			if _, err := p.User(t.Context(), p.c, got.Access); err != nil {
				t.Error(err)
			}
			if _, err := p.Refresh(t.Context(), p.c, p.refresh); Withdrawn(err) != rotate {
				t.Errorf("the first refresh token again: %v", err)
			}
		})
	}
}

func TestWithdrawn(t *testing.T) {
	for name, old := range map[string]bool{"invalid_grant": false, "invalid_request: Invalid refresh_token": true} {
		p := play(t, bitbucketcloud.Options{OldRefusal: old})
		p.platform.Withdraw("712020:ana")
		_, err := p.Refresh(t.Context(), p.c, p.refresh)
		p.says(t, err, "400 Bad Request, "+name)
		if !Withdrawn(err) || CodeRefused(err) || strings.Contains(err.Error(), "uthorise") {
			t.Errorf("%v", err)
		}
	}
}

// A wrong secret of the connection withdraws nothing.
func TestWrongClientSecret(t *testing.T) {
	p := play(t, bitbucketcloud.Options{})
	right := p.c.OAuthClientSecret
	p.c.OAuthClientSecret = secret.New("wrong")
	_, err := p.Refresh(t.Context(), p.c, p.refresh)
	p.says(t, err, "unauthorized_client: Invalid OAuth client credentials. Check the connection's OAuth client id and secret.")
	if Withdrawn(err) {
		t.Error("it counts as withdrawn")
	}
	p.c.OAuthClientSecret = right
	p.platform.SetFault("access_token", playgroundtest.Fault{Kind: playgroundtest.Refusing})
	_, err = p.Refresh(t.Context(), p.c, p.refresh)
	p.says(t, err, "401 Unauthorized, invalid_client. Check the connection's OAuth client id and secret.")
	if Withdrawn(err) {
		t.Error("it counts as withdrawn")
	}
}

// What passes by itself withdraws nothing.
func TestFaultsOfTheTokenEndpoint(t *testing.T) {
	for kind, want := range map[playgroundtest.Kind]string{
		playgroundtest.Throttling:  "429 Too Many Requests, Rate limit",
		playgroundtest.Broken:      "500 Internal Server Error",
		playgroundtest.Missing:     "404 Not Found",
		playgroundtest.Forbidding:  "403 Forbidden",
		playgroundtest.Proxied:     "is not the platform",
		playgroundtest.Garbling:    "is not the platform",
		playgroundtest.Redirecting: "302 Found. Check the base URL",
		playgroundtest.Dropping:    "closed the connection without an answer",
	} {
		t.Run(string(kind), func(t *testing.T) {
			p := play(t, bitbucketcloud.Options{})
			p.platform.SetFault("access_token", playgroundtest.Fault{Kind: kind})
			_, err := p.Refresh(t.Context(), p.c, p.refresh)
			if kind == playgroundtest.Throttling {
				want = "429 Too Many Requests"
			}
			p.says(t, err, want)
			if Withdrawn(err) || TokenRefused(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

// doer answers without a platform.
type doer func(*http.Request) (status int, body string)

func (d doer) Do(r *http.Request) (*http.Response, error) {
	status, body := d(r)
	if status == 0 {
		return nil, errors.New("no answer")
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func TestTokensThatCannotBeUsed(t *testing.T) {
	for name, body := range map[string]string{
		"none":                   `{}`,
		"null":                   `{"access_token":null,"refresh_token":"r","token_type":"bearer"}`,
		"of another type":        `{"access_token":"a","refresh_token":"r","token_type":"mac"}`,
		"with a line break":      `{"access_token":"a\r\nX-Evil: 1","refresh_token":"r","token_type":"bearer"}`,
		"no refresh token":       `{"access_token":"a","token_type":"bearer"}`,
		"a refresh token in two": `{"access_token":"a","refresh_token":"r r","token_type":"bearer"}`,
		"too long":               `{"access_token":"` + strings.Repeat("a", 8<<10+1) + `","refresh_token":"r","token_type":"bearer"}`,
	} {
		cl := New(doer(func(*http.Request) (int, string) { return 200, body }), nil)
		if got, err := cl.Exchange(t.Context(), &notify.Connection{Name: "c", BaseURL: "https://x.example"}, "code", "", callback); err == nil {
			t.Errorf("%s: %+v", name, got)
		} else if strings.Contains(err.Error(), "Evil") {
			t.Errorf("%v", err)
		}
	}
}

func TestLife(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"7200": 2 * time.Hour, `"7200"`: 2 * time.Hour, "0.5": 500 * time.Millisecond,
		"": time.Hour, "null": time.Hour, "0": time.Hour, "-1": time.Hour, `"soon"`: time.Hour, "{}": time.Hour, `"NaN"`: time.Hour,
		"1e300": 24 * time.Hour, "86401": 24 * time.Hour, `"Inf"`: 24 * time.Hour,
	} {
		if got := life(json.RawMessage(text)); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// A platform that repeats what it was sent in its words gives nothing away.
func TestSecretsInThePlatformsWords(t *testing.T) {
	c := &notify.Connection{Name: "c", BaseURL: "https://x.example", OAuthClientID: "key", OAuthClientSecret: secret.New("cl13nt")}
	echo := New(doer(func(r *http.Request) (int, string) {
		sent := r.Header.Get("Authorization")
		if r.Body != nil {
			form, _ := io.ReadAll(r.Body)
			sent += " " + string(form)
		}
		_, password, _ := r.BasicAuth()
		text, _ := json.Marshal(sent + " " + password)
		return 400, `{"error":"invalid_grant","error_description":` + string(text) + `,"type":"error"}`
	}), nil)
	_, err := echo.Refresh(t.Context(), c, secret.New("r3fresh"))
	for _, hidden := range []string{"cl13nt", "r3fresh"} {
		if err == nil || strings.Contains(err.Error(), hidden) {
			t.Errorf("%v", err)
		}
	}
	if _, err = echo.Exchange(t.Context(), c, "c0de", "v3rifier", callback); err == nil || strings.Contains(err.Error(), "c0de") || strings.Contains(err.Error(), "v3rifier") {
		t.Errorf("%v", err)
	}
	echo = New(doer(func(r *http.Request) (int, string) {
		text, _ := json.Marshal(r.Header.Get("Authorization"))
		return 401, `{"type":"error","error":{"message":` + string(text) + `}}`
	}), nil)
	if _, err = echo.User(t.Context(), c, secret.New("t0ken")); err == nil || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("%v", err)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add(200, `{"access_token":"a","refresh_token":"r","token_type":"bearer","expires_in":7200,"scopes":"account webhook","state":"refresh_token"}`)
	f.Add(200, `{"access_token":"a\n","token_type":"Bearer","expires_in":"1e999"}`)
	f.Add(400, `{"error":"invalid_grant","error_description":null}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		c := &notify.Connection{Name: "c", BaseURL: "https://x.example"}
		cl := New(doer(func(*http.Request) (int, string) { return 200 + status&0x1ff, body }), func() time.Time { return now })
		got, err := cl.Refresh(t.Context(), c, secret.New("r3fresh"))
		switch {
		case err != nil && (!fault.Is(err, fault.Unavailable) || !got.Access.IsZero()):
			t.Errorf("%+v, %v", got, err)
		case err == nil && (!restclient.UsableToken(got.Access.Reveal()) || !restclient.UsableToken(got.Refresh.Reveal()) || !got.Expires.After(now) || got.Expires.After(now.Add(maxLife))):
			t.Errorf("%+v", got)
		}
	})
}

// A pause that the platform asks for one account's refresh, or for a code, holds
// that one alone.
func TestAPauseOfOneGrant(t *testing.T) {
	c := &notify.Connection{Name: "c", BaseURL: "https://x.example", OAuthClientID: "key", OAuthClientSecret: secret.New("cl13nt")}
	asked := 0
	cl := New(doer(func(r *http.Request) (int, string) {
		asked++
		if body, _ := io.ReadAll(r.Body); !strings.Contains(string(body), "ana") {
			return 200, `{"access_token":"a","refresh_token":"r","token_type":"bearer"}`
		}
		return 429, ""
	}), nil)
	for range 2 {
		if _, err := cl.Refresh(t.Context(), c, secret.New("of-ana")); !fault.Is(err, fault.Unavailable) || fault.As(err).RetryAfter == 0 {
			t.Errorf("%v", err)
		}
		if _, err := cl.Exchange(t.Context(), c, "code-of-ana", "", callback); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%v", err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times in a pause", asked)
	}
	if _, err := cl.Refresh(t.Context(), c, secret.New("of-ben")); err != nil {
		t.Errorf("another account: %v", err)
	}
	if _, err := cl.Exchange(t.Context(), c, "code-of-ben", "", callback); err != nil {
		t.Errorf("another code: %v", err)
	}
}
