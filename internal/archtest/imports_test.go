package archtest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// The house: three wings on one ground floor, and what stands outside.
var (
	ground = []string{
		"audit", "cluster", "config", "console", "db", "egress", "fault", "identity", "rest", "retention", "secret", "settings", "work",
	}
	wings = []string{"mailqueue", "notify", "threads"}
	// outside is what is no part of the server: it wires it, plays its world or
	// tests it.
	outside = []string{"app", "archtest", "dbtest", "loadtest", "playground", "powercut"}
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
			switch {
			case isWing(s.pkg) && isWing(imported) && house(s.pkg) != house(imported):
				t.Errorf("%s: a wing imports another, %s", s.path, imported)
			case isGround(s.pkg) && isWing(imported):
				t.Errorf("%s: the ground floor imports a wing, %s", s.path, imported)
			case s.test:
				// Tests may use what they test with.
			case house(imported) == "playground" && house(s.pkg) != "app" && house(s.pkg) != "playground":
				t.Errorf("%s: only app plays the outside world, %s", s.path, imported)
			case house(imported) == "powercut":
				t.Errorf("%s: only tests cut the power", s.path)
			case house(imported) == "app" && s.pkg != "cmd/outrigger":
				t.Errorf("%s: only the command imports app", s.path)
			case imported == "testing" && house(s.pkg) != "dbtest" && house(s.pkg) != "loadtest":
				t.Errorf("%s: the program imports testing", s.path)
			}
		}
	}
}

// Domain files hold types and rules: they ask no database and no network.
func TestDomainFilesAreDomain(t *testing.T) {
	forbidden := []string{"database/sql", "internal/db", "net/http"}
	for _, s := range sources(t) {
		if s.test || !isDomain(s) {
			continue
		}
		for _, imported := range s.imports {
			if slices.Contains(forbidden, imported) {
				t.Errorf("%s: a domain file imports %s; that is for store*.go, rest*.go, pages*.go or metrics*.go", s.path, imported)
			}
		}
	}
}

// pure are the packages below a wing that turn one value into another.
var pure = []string{
	"internal/notify/bitbucketdc", "internal/notify/branchmask", "internal/notify/card",
	"internal/notify/payload", "internal/notify/slack", "internal/notify/teams",
}

func isDomain(s source) bool {
	if slices.Contains(pure, s.pkg) {
		return true
	}
	if !isWing(s.pkg) || path.Dir(s.pkg) != "internal" {
		return false
	}
	for _, adapter := range []string{"store", "rest", "pages", "metrics"} {
		if rest, ok := strings.CutPrefix(s.name, adapter); ok && (rest[0] == '_' || rest[0] == '.') {
			return false
		}
	}
	return true
}
