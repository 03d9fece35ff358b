package admin

import (
	"context"
	"strings"
	"testing"

	"outrigger/internal/identity"
)

// Where the name of a host leads is for administrators; others hear that it may not
// be reached, and have few names looked up in a minute, each user on their own.
func TestCautionsNameNoAddressesToOthers(t *testing.T) {
	asked := 0
	caution := Cautions(func(_ context.Context, url string) string {
		asked++
		if strings.Contains(url, "outside") {
			return ""
		}
		return "db.corp is 10.1.2.3, which is in 10.0.0.0/8"
	})
	as := func(name string, permission identity.Permission) context.Context {
		return identity.With(t.Context(), &identity.Principal{Name: name, Grants: []identity.Grant{{Permission: permission}}})
	}
	for _, name := range []string{"ann", "bea"} {
		asked = 0
		for i := range 2 * cautionsAMinute {
			got, want := caution(as(name, identity.RepoAdmin), "https://db.corp"), discreetCaution
			if i >= cautionsAMinute {
				want = ""
			}
			if got != want {
				t.Errorf("%s, %d: %q, want %q", name, i, got, want)
			}
		}
		if asked != cautionsAMinute {
			t.Errorf("%s had %d names looked up", name, asked)
		}
	}
	if got := caution(as("cid", identity.RepoAdmin), "https://outside.example"); got != "" {
		t.Errorf("of a public address: %q", got)
	}
	for range 2 * cautionsAMinute {
		if got := caution(as("admin", identity.Admin), "https://db.corp"); !strings.Contains(got, "10.1.2.3") {
			t.Errorf("an administrator reads %q", got)
		}
	}
}
