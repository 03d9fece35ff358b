package archtest

import (
	"path"
	"strings"
	"testing"
)

// rooms are what each room of a wing may not import, nor the packages below it:
// words and decisions are in the root, which is "", SQL in store, REST in api,
// the console in pages.
var rooms = map[string][]string{
	"":      {"internal/db", "internal/rest", "internal/console", "net/http", "html/template", "database/sql"},
	"api":   {"internal/db"},
	"pages": {"internal/db"},
	"store": {"internal/rest", "internal/console"},
}

// refusedInRoom says why a package of a wing may not import another; "" when it
// may, or when it is in no room.
func refusedInRoom(pkg, imported string) string {
	if !isWing(pkg) {
		return ""
	}
	room, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(pkg, path.Join("internal", house(pkg))), "/"), "/")
	for _, refused := range rooms[room] {
		if imported == refused || strings.HasPrefix(imported, refused+"/") {
			if room == "" {
				return "the root of a wing stores, serves and draws nothing"
			}
			return "that is not what " + room + " is for"
		}
	}
	return ""
}

// Every rule about imports refuses what it is about, and lets through what is
// right beside it.
func TestRefusedImports(t *testing.T) {
	for _, test := range []struct {
		pkg, imported string
		test, allowed bool
	}{
		{pkg: "internal/mailqueue", imported: "internal/notify"},
		{pkg: "internal/mailqueue/store", imported: "internal/threads/store"},
		{pkg: "internal/mailqueue", imported: "internal/notify", test: true},
		{pkg: "internal/identity", imported: "internal/mailqueue"},
		{pkg: "internal/mailqueue", imported: "internal/identity", allowed: true},
		{pkg: "internal/mailqueue/relay", imported: "internal/playground/smarthost"},
		{pkg: "internal/mailqueue/relay", imported: "internal/playground/smarthost", test: true, allowed: true},
		{pkg: "internal/app", imported: "internal/playground/smarthost", allowed: true},
		{pkg: "internal/db", imported: "internal/powercut"},
		{pkg: "internal/mailqueue", imported: "internal/app"},
		{pkg: "internal/mailqueue/mailqueuetest", imported: "testing"},

		{pkg: "internal/mailqueue", imported: "internal/db"},
		{pkg: "internal/mailqueue", imported: "internal/rest"},
		{pkg: "internal/mailqueue", imported: "internal/rest/accounts"},
		{pkg: "internal/mailqueue", imported: "internal/console"},
		{pkg: "internal/mailqueue", imported: "net/http"},
		{pkg: "internal/mailqueue", imported: "net/http/httptest"},
		{pkg: "internal/mailqueue", imported: "html/template"},
		{pkg: "internal/mailqueue", imported: "database/sql"},
		{pkg: "internal/threads", imported: "internal/db"},
		{pkg: "internal/threads", imported: "net/http"},
		{pkg: "internal/threads/api", imported: "internal/db"},
		{pkg: "internal/threads/pages", imported: "internal/db"},
		{pkg: "internal/threads/store", imported: "internal/rest"},
		{pkg: "internal/threads/store", imported: "internal/console"},
		{pkg: "internal/notify", imported: "internal/db"},
		{pkg: "internal/notify", imported: "internal/rest"},
		{pkg: "internal/notify", imported: "internal/console"},
		{pkg: "internal/notify", imported: "net/http"},
		{pkg: "internal/notify", imported: "html/template"},
		{pkg: "internal/notify", imported: "database/sql"},
		{pkg: "internal/notify/api", imported: "internal/db"},
		{pkg: "internal/notify/pages", imported: "internal/db"},
		{pkg: "internal/notify/store", imported: "internal/rest"},
		{pkg: "internal/notify/store", imported: "internal/console"},
		{pkg: "internal/notify/store", imported: "internal/db", allowed: true},
		{pkg: "internal/notify/outbox", imported: "net/http", allowed: true},
		{pkg: "internal/notify/card", imported: "internal/db"},
		{pkg: "internal/notify/bitbucketdc", imported: "net/http"},
		{pkg: "internal/notify/bitbucketdc/client", imported: "net/http", allowed: true},
		{pkg: "internal/mailqueue", imported: "internal/db", test: true, allowed: true},
		{pkg: "internal/mailqueue", imported: "net/url", allowed: true},
		{pkg: "internal/mailqueue/api", imported: "internal/db"},
		{pkg: "internal/mailqueue/api", imported: "internal/rest", allowed: true},
		{pkg: "internal/mailqueue/pages", imported: "internal/db"},
		{pkg: "internal/mailqueue/pages", imported: "internal/console", allowed: true},
		{pkg: "internal/mailqueue/store", imported: "internal/rest"},
		{pkg: "internal/mailqueue/store", imported: "internal/console"},
		{pkg: "internal/mailqueue/store", imported: "internal/db", allowed: true},
		{pkg: "internal/mailqueue/relay", imported: "internal/db", allowed: true},
	} {
		why := refusedImport(source{pkg: test.pkg, test: test.test}, test.imported)
		if (why == "") != test.allowed {
			t.Errorf("%s imports %s (in a test: %v): %q", test.pkg, test.imported, test.test, why)
		}
	}
}
