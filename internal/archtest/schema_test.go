package archtest

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// schemaDigests lists every schema file with its SHA-256, in the format of sha256sum.
const schemaDigests = "internal/archtest/testdata/schema.sha256"

// Databases have applied these files. A change of the schema is a new file, whose
// line is added to schemaDigests; no line there ever changes or goes.
func TestSchemaFilesAreFrozen(t *testing.T) {
	frozen := map[string]string{}
	for line := range strings.Lines(text(t, schemaDigests)) {
		digest, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("%s: cannot read the line %q", schemaDigests, line)
		}
		frozen[file] = digest
	}
	all := files(t)
	for _, p := range all {
		if path.Ext(p) != ".sql" || !strings.Contains(p, "/migrations/") && !strings.Contains(p, "/bootstrap/") {
			continue
		}
		digest := fmt.Sprintf("%x", sha256.Sum256([]byte(text(t, p))))
		switch frozen[p] {
		case digest:
		case "":
			t.Errorf("%s is new. Add its line to %s:\n%s  %s", p, schemaDigests, digest, p)
		default:
			t.Errorf("%s was edited. Databases have applied it: restore it and add a new file", p)
		}
	}
	for file := range frozen {
		if !slices.Contains(all, file) {
			t.Errorf("%s was removed. Databases have applied it: restore it", file)
		}
	}
}
