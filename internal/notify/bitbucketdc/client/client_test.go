package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestVersion(t *testing.T) {
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch auth := r.Header.Get("Authorization"); {
		case r.URL.Path != "/code/rest/api/latest/application-properties":
			_, _ = w.Write([]byte("<html>"))
		case auth == "" || auth == "Bearer right" || auth == "Basic Ym90OnJpZ2h0": // bot:right
			_, _ = w.Write([]byte(`{"version":"9.4.2","buildNumber":"1","displayName":"Bitbucket"}`))
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer platform.Close()
	out, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for name, c := range map[string]struct {
		path, user, token, want string
	}{
		"without credentials": {"/code/", "", "", "Bitbucket 9.4.2"},
		"a token":             {"/code", "", "right", "Bitbucket 9.4.2"},
		"a user":              {"/code", "bot", "right", "Bitbucket 9.4.2"},
		"a wrong token":       {"/code", "", "wrong", "answers 401"},
		"another address":     {"/other", "", "", "not the platform"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Version(t.Context(), out.Trusted(), &notify.Connection{
				Name: "main", BaseURL: platform.URL + c.path, User: c.user, Token: secret.New(c.token),
			})
			if err == nil && got != c.want || err != nil && (!fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
	if _, err := Version(t.Context(), out.Trusted(), &notify.Connection{Name: "main", BaseURL: "http://127.0.0.1:1"}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("nothing listens: %v", err)
	}
}
