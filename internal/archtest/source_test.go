// Package archtest holds the rules of the building over every file of the
// repository: which package may import which, and what no file may have.
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "outrigger/"

// source is one Go file.
type source struct {
	path    string // from the root of the repository: internal/db/tx.go
	pkg     string // its folder, internal/db
	name    string // tx.go
	test    bool
	imports []string // paths; our own without the module
	file    *ast.File
	fset    *token.FileSet
}

// at is a position for messages.
func (s source) at(n ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(n.Pos()).Line)
}

// root is the folder of the repository.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// files lists every file of the repository by its path from the root, but for
// what builds and tools leave behind.
func files(t testing.TB) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(root(t)), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", ".cache", "bin", "dist", "node_modules"}, d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular():
			list = append(list, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// sources parses every Go file.
func sources(t testing.TB) []source {
	t.Helper()
	fset := token.NewFileSet()
	var list []source
	for _, p := range files(t) {
		if path.Ext(p) != ".go" || strings.Contains(p, "/testdata/") {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(root(t), p), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s := source{path: p, pkg: path.Dir(p), name: path.Base(p), test: strings.HasSuffix(p, "_test.go"), file: file, fset: fset}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			s.imports = append(s.imports, strings.TrimPrefix(name, module))
		}
		list = append(list, s)
	}
	return list
}

// text is the content of a file.
func text(t testing.TB, p string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root(t), p))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
