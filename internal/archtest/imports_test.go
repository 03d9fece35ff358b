package archtest

import (
	"slices"
	"strings"
	"testing"
)

// The house: three wings on one ground floor, and what stands outside.
var (
	ground = []string{
		"about", "accounts", "alerts", "attention", "audit", "backup", "cache", "cluster", "config", "console", "db", "diagnosis",
		"egress", "fault", "identity", "limit", "phrase", "reload", "rest", "restart", "retention", "secret", "settings", "trace", "work",
	}
	wings = []string{"mailqueue", "notify", "threads"}
	// outside is what is no part of the server: it wires it, plays its world or
	// tests it.
	outside = []string{"app", "archtest", "commandline", "dbtest", "documented", "loadtest", "playground", "powercut"}
)

// house is the folder right below internal that a package is in, "" for cmd
// and for packages of others.
func house(pkg string) string {
	rest, ok := strings.CutPrefix(pkg, "internal/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func isGround(pkg string) bool { return slices.Contains(ground, house(pkg)) }
func isWing(pkg string) bool   { return slices.Contains(wings, house(pkg)) }

func TestEveryPackageHasItsPlace(t *testing.T) {
	for _, s := range sources(t) {
		h := house(s.pkg)
		if h != "" && !isGround(s.pkg) && !isWing(s.pkg) && !slices.Contains(outside, h) {
			t.Errorf("%s: internal/%s is neither of the ground floor nor a wing; the lists of this test must name it", s.path, h)
		}
	}
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		for _, imported := range s.imports {
			if why := refusedImport(s, imported); why != "" {
				t.Errorf("%s imports %s: %s", s.path, imported, why)
			}
		}
	}
}

// refusedImport says why a file may not import a package; "" when it may.
func refusedImport(s source, imported string) string {
	switch {
	case isWing(s.pkg) && isWing(imported) && house(s.pkg) != house(imported):
		return "a wing imports another"
	case isGround(s.pkg) && isWing(imported):
		return "the ground floor imports a wing"
	case s.test, strings.HasPrefix(s.pkg, "acceptance/"), strings.HasPrefix(s.pkg, "packaging/test/"):
		return "" // Tests may use what they test with.
	case house(imported) == "playground" && house(s.pkg) != "app" && house(s.pkg) != "playground":
		return "only app plays the outside world"
	case house(imported) == "powercut":
		return "only tests cut the power"
	case house(imported) == "app" && s.pkg != "cmd/outrigger":
		return "only the command imports app"
	case imported == "testing" && !forTests(s.pkg):
		return "the program imports testing"
	case forTests(imported) && !forTests(s.pkg) && s.pkg != "bench":
		return "the program imports what is for tests"
	}
	if slices.Contains(pure, s.pkg) && slices.Contains([]string{"database/sql", "internal/db", "net/http"}, imported) {
		return "what turns one value into another asks no database and no network"
	}
	return refusedInRoom(s.pkg, imported)
}

// forTests reports whether a package is only for tests, as its name says.
func forTests(pkg string) bool {
	return strings.HasPrefix(pkg, "internal/") && strings.HasSuffix(pkg, "test")
}

// pure are the packages below a wing that turn one value into another: they ask
// no database and no network.
var pure = []string{
	"internal/notify/bitbucketcloud", "internal/notify/bitbucketdc", "internal/notify/branchmask", "internal/notify/card",
	"internal/notify/card/sample", "internal/notify/cardhtml", "internal/notify/message", "internal/notify/payload", "internal/notify/slack", "internal/notify/teams",
	"internal/threads/format",
}
