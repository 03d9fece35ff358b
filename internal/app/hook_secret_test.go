package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/identity/identitytest"
	"outrigger/internal/notify"
	"outrigger/internal/notify/hook"
	"outrigger/internal/secret"
)

// After a rotation, the old secret of a hook signs for 7 days beside the new one;
// a second rotation ends it at once, which is said before. The page of the
// connection shows it as long as it signs.
func TestOldSecretOfAHook(t *testing.T) {
	t.Parallel()
	clock := new(identitytest.Clock)
	a := startWith(t, settings(t), Options{Version: "v0", Clock: clock.Now})
	const page = "/notifications/connections/code"
	next := func(path string, form url.Values) string {
		t.Helper()
		status, body := consolePage(t, a, path, form)
		key := secretOn.FindString(body)
		if status != 200 || key == "" {
			t.Fatalf("%d without a secret: %s", status, body)
		}
		return key
	}
	says := func(when, path, text string, want bool) {
		t.Helper()
		status, body := consolePage(t, a, path, nil)
		if status != 200 || strings.Contains(body, text) != want {
			t.Errorf("%s, %s: %d, %q is there: %t; %s", when, path, status, text, !want, body)
		}
	}
	signs := func(when, key string, want int) {
		t.Helper()
		const body = `{"eventKey":"repo:unknown"}`
		status := postAs(t, a, "/hooks/code", body, func(r *http.Request) {
			r.Header.Set(hook.EventKeyHeader, "repo:unknown")
			r.Header.Set(hook.SignatureHeader, hook.Sign([]byte(body), secret.New(key)))
		})
		if status != want {
			t.Errorf("%s: %d, want %d", when, status, want)
		}
	}
	const old, ends = "the old one is valid until", "ends at once"

	first := next("/notifications/new-connection", url.Values{"name": {"code"}, "kind": {"bitbucket-dc"}, "baseUrl": {"https://code.example.com"}})
	says("never rotated", page, old, false)
	says("never rotated", page+"/rotate", ends, false)

	second := next(page+"/rotate", url.Values{})
	says("rotated", page, old, true)
	signs("the old secret", first, 202)
	signs("the new secret", second, 202)

	says("rotated", page+"/rotate", ends, true)
	third := next(page+"/rotate", url.Values{})
	signs("the secret before the last two rotations", first, 401)
	signs("the secret before the last rotation", second, 202)
	signs("the last secret", third, 202)

	clock.Move(notify.PreviousHolds - time.Minute)
	signs("the old secret on the seventh day", second, 202)
	clock.Move(time.Minute)
	signs("the old secret after 7 days", second, 401)
	signs("the new secret after 7 days", third, 202)
	says("after 7 days", page, old, false)
	says("after 7 days", page+"/rotate", ends, false)
}
