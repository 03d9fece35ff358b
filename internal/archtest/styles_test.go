package archtest

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// bareClass finds a rule about a class and nothing else.
var bareClass = regexp.MustCompile(`(?m)^\.([a-z-]+) \{`)

// All styles of the console are one file: two folders that style the same class would
// change each other's pages.
func TestAClassIsStyledInOneFolder(t *testing.T) {
	folders := map[string]string{}
	for _, p := range files(t) {
		if path.Ext(p) != ".css" || !strings.HasPrefix(p, "internal/") || strings.HasPrefix(p, "internal/playground/") {
			continue
		}
		for _, m := range bareClass.FindAllStringSubmatch(text(t, p), -1) {
			folder := path.Dir(p)
			if other := folders[m[1]]; other != "" && other != folder {
				t.Errorf("%s and %s both style .%s: give one of them another name", other, p, m[1])
			}
			folders[m[1]] = folder
		}
	}
	if len(folders) < 50 {
		t.Fatalf("only %d classes were found", len(folders))
	}
}
