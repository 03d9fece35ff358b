package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxLines is where a file is two ideas.
const maxLines = 500

func TestFilesAreShort(t *testing.T) {
	kinds := []string{".go", ".sql", ".html", ".css", ".js", ".sh"}
	for _, p := range files(t) {
		if !slices.Contains(kinds, path.Ext(p)) || strings.Contains(p, "/testdata/") {
			continue
		}
		if n := strings.Count(text(t, p), "\n"); n > maxLines {
			t.Errorf("%s has %d lines; split it before %d", p, n, maxLines)
		}
	}
}

// maxColumns is how wide a line of Go may be, a tab counted as one. Tests may have
// wider ones: a case of a table is read across.
const maxColumns = 140

func TestLinesAreShort(t *testing.T) {
	for _, p := range files(t) {
		if path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || strings.Contains(p, "/testdata/") {
			continue
		}
		for i, line := range strings.Split(text(t, p), "\n") {
			if n := utf8.RuneCountInString(line); n > maxColumns {
				t.Errorf("%s:%d has %d columns; say less, or break it at %d", p, i+1, n, maxColumns)
			}
		}
	}
}

// Every package says in one place what it is: "Package x …", "Command x …".
func TestPackagesAreDocumented(t *testing.T) {
	documented := map[string][]string{}
	for _, s := range sources(t) {
		if _, ok := documented[s.pkg]; !ok {
			documented[s.pkg] = nil
		}
		doc := s.file.Doc.Text()
		name := s.file.Name.Name
		if strings.HasPrefix(doc, "Package "+name+" ") || name == "main" && strings.HasPrefix(doc, "Command ") {
			documented[s.pkg] = append(documented[s.pkg], s.name)
		}
	}
	for pkg, files := range documented {
		if len(files) != 1 {
			t.Errorf("%s: its documentation is in %v, not in one file", pkg, files)
		}
	}
}

// No third-party scripts: what browsers run is written here, for reading.
func TestScriptsAreOurs(t *testing.T) {
	for _, p := range files(t) {
		if !slices.Contains([]string{".js", ".mjs", ".cjs", ".ts"}, path.Ext(p)) {
			continue
		}
		content := text(t, p)
		for _, mark := range []string{"/*!", "@license", "Copyright", "sourceMappingURL", "://cdn", "eval("} {
			if strings.Contains(content, mark) {
				t.Errorf("%s has %q: it looks like somebody else's", p, mark)
			}
		}
		for line := range strings.Lines(content) {
			if len(line) > 200 {
				t.Errorf("%s is minified: no line of ours has %d bytes", p, len(line))
				break
			}
		}
	}
}

// calls that are never ours, by import path.
var refused = []struct {
	pkg, name string
	why       string
	allowed   func(source) bool
}{
	{"os", "Exit", "only main ends the process", func(s source) bool {
		return s.path == "cmd/outrigger/main.go" || s.path == "bench/main.go" || s.path == "internal/about/generate/main.go" || s.path == "acceptance/stored/make/main.go" ||
			strings.HasPrefix(s.path, "packaging/") && s.name == "main.go"
	}},
	{"log", "Fatal", "only main ends the process", never},
	{"log", "Fatalf", "only main ends the process", never},
	{"time", "Sleep", "use testing/synctest, a channel or a clock", func(s source) bool { return !s.test }},
}

func never(source) bool { return false }

func TestRefusedCalls(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := call.X.(*ast.Ident)
			if !ok {
				return true
			}
			for _, r := range refused {
				if pkg.Name == r.pkg && call.Sel.Name == r.name && slices.Contains(s.imports, r.pkg) && !r.allowed(s) {
					t.Errorf("%s: %s.%s: %s", s.at(n), r.pkg, r.name, r.why)
				}
			}
			return true
		})
	}
}

// A package does nothing before it is asked to.
func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: there is an init", s.at(f))
			}
		}
	}
}
