package admin_test

import (
	"strings"
	"testing"

	"outrigger/internal/threads"
)

// Migrated issues are found by number, and by the key that a comparison learned, by
// those who may migrate.
func TestIssuesAreFound(t *testing.T) {
	r := onSQLite(t, &site{names: map[int64]threads.IssueName{901: {Key: "JRA-17", Project: "JRA"}, 902: {Key: "JRA-170", Project: "JRA"}}}).work()
	const first, second = `/threads/admin/issue?id=901"`, `/threads/admin/issue?id=902"`
	finds := func(query string, texts ...string) {
		t.Helper()
		r.has(r.open("GET", "/find?q="+query, "root"), 200, texts...)
	}
	finds("901", "Nothing with this name or number")
	r.completed()
	finds("901", first, "Threads of issue 901")
	finds("%23902", second)
	r.verifies(`"state":"done"`)
	finds("jra-17", first, "JRA-17", second, "JRA-170")
	finds("JRA-170", second)
	finds("903", "Nothing with this name or number")
	if page := r.open("GET", "/find?q=901", "admin").Body.String(); strings.Contains(page, "issue?id") {
		t.Error("an administrator who may not migrate finds issues")
	}
}
