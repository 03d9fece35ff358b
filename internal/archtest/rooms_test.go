package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rooms are what each room of a wing may not import, nor the packages below it:
// words and decisions are in the root, which is "", what people may do in admin, SQL
// in store, REST in api, the console in pages.
var rooms = map[string][]string{
	"":      {"internal/db", "internal/rest", "internal/console", "net/http", "html/template", "database/sql"},
	"admin": {"internal/rest", "internal/console", "html/template", "database/sql"},
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
	wing := path.Join("internal", house(pkg))
	room, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(pkg, wing), "/"), "/")
	if rel, ok := strings.CutPrefix(imported, wing+"/"); ok && (room == "" || room == "store") && slices.Contains([]string{"admin", "api", "pages"}, rel) {
		return "words and SQL do not know what people do with them"
	}
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

// sqlOutside are the packages of wings that speak SQL though they are no store,
// and why.
var sqlOutside = map[string]string{
	"internal/mailqueue/relay":       "its queue has its own tables, and what sessions hold of them is private to it",
	"internal/mailqueue/relay/token": "a refresh token is stored between the provider's answer and its use",
	"internal/threads/source":        "it reads the host application's database, which is no part of ours",
}

// sqlStatement is how a statement begins that a text in a program has.
var sqlStatement = regexp.MustCompile(`^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH) `)

// Only the store of a wing asks the database.
func TestOnlyTheStoreSpeaksSQL(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		if !isWing(s.pkg) || s.test || strings.HasSuffix(s.pkg, "test") || s.pkg == path.Join("internal", house(s.pkg), "store") {
			continue
		}
		for _, where := range speaksSQL(s) {
			used[s.pkg] = true
			if sqlOutside[s.pkg] == "" {
				t.Errorf("%s: SQL belongs to the store of the wing", where)
			}
		}
	}
	for pkg := range sqlOutside {
		if !used[pkg] {
			t.Errorf("%s has no SQL any more; take it from the list", pkg)
		}
	}
}

// speaksSQL lists where a file imports database/sql or has a statement.
func speaksSQL(s source) (where []string) {
	if slices.Contains(s.imports, "database/sql") {
		where = append(where, s.path)
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && sqlStatement.MatchString(strings.Trim(text.Value, "`\"")) {
			where = append(where, s.at(n))
		}
		return true
	})
	return where
}

func TestSpeaksSQL(t *testing.T) {
	for _, test := range []struct {
		code string
		want int
	}{
		{"package x\nimport _ \"database/sql\"", 1},
		{"package x\nvar q = `SELECT 1 FROM t`", 1},
		{"package x\nvar q = \"DELETE FROM t\"", 1},
		{"package x\nvar q = `\n\tUPDATE t SET a = 1`", 1},
		{"package x\nimport _ \"outrigger/internal/db\"\nvar text = `Select a channel`", 0},
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", test.code, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := source{path: "x.go", file: file, fset: fset}
		for _, spec := range file.Imports {
			s.imports = append(s.imports, strings.Trim(spec.Path.Value, `"`))
		}
		if got := speaksSQL(s); len(got) != test.want {
			t.Errorf("%s: %v", test.code, got)
		}
	}
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
		{pkg: "internal/mailqueue", imported: "testing"},
		{pkg: "internal/mailqueue/mailqueuetest", imported: "testing", allowed: true},
		{pkg: "internal/mailqueue", imported: "internal/mailqueue/mailqueuetest"},
		{pkg: "internal/mailqueue", imported: "internal/mailqueue/mailqueuetest", test: true, allowed: true},
		{pkg: "internal/app", imported: "internal/dbtest"},
		{pkg: "bench", imported: "internal/loadtest", allowed: true},

		{pkg: "internal/mailqueue", imported: "internal/db"},
		{pkg: "internal/mailqueue", imported: "internal/rest"},
		{pkg: "internal/mailqueue", imported: "internal/rest/openapitest"},
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
		{pkg: "internal/notify/admin", imported: "internal/notify/store", allowed: true},
		{pkg: "internal/notify/admin", imported: "internal/rest"},
		{pkg: "internal/notify/api", imported: "internal/notify/admin", allowed: true},
		{pkg: "internal/notify/pages", imported: "internal/notify/admin", allowed: true},
		{pkg: "internal/notify/store", imported: "internal/notify/admin"},
		{pkg: "internal/notify", imported: "internal/notify/admin"},
	} {
		why := refusedImport(source{pkg: test.pkg, test: test.test}, test.imported)
		if (why == "") != test.allowed {
			t.Errorf("%s imports %s (in a test: %v): %q", test.pkg, test.imported, test.test, why)
		}
	}
}
