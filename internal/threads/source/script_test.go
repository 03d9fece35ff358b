package source_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/client"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

// run is the helper script's end in a folder of its own.
type run struct {
	dir    string
	code   int
	stderr string
	argv   string // of every curl
}

// runScript runs the helper script with dash, fed with lines.
func runScript(t *testing.T, lines ...string) run {
	t.Helper()
	r := run{dir: t.TempDir()}
	bin := t.TempDir()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal(err)
	}
	// What a list of processes shows of curl.
	spy := "#!/bin/sh\nprintf '%s\\n' \"$*\" >>" + bin + "/argv\nexec " + curl + " \"$@\"\n"
	path := filepath.Join(bin, source.ScriptName)
	for name, content := range map[string][]byte{filepath.Join(bin, "curl"): []byte(spy), path: source.Script()} {
		if err := os.WriteFile(name, content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "dash", path)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+bin)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	r.code, r.stderr = cmd.ProcessState.ExitCode(), stderr.String()
	argv, _ := os.ReadFile(filepath.Join(bin, "argv")) // there is none before the first curl
	r.argv = string(argv)
	left, err := filepath.Glob(filepath.Join(bin, "threaded-comments.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return r
}

// files lists what the script left in its folder.
func (r run) files(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func (r run) output(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, "comments_hierarchy_export.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, r.stderr)
	}
	return string(b)
}

func TestShellcheck(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "shellcheck", "--shell=sh", "script/"+source.ScriptName).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The script and the client write the same file, to the byte.
func TestScriptAgainstServer(t *testing.T) {
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, d, "a", nil)
	const password = `p"a\s's $(w):rd%`
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, given, _ := r.BasicAuth()
		seen = append(seen, r.URL.RawQuery+" "+given+r.Header.Get("Authorization")[:6])
		s.router.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	for _, n := range []int{0, 1, 10_000, 10_001} {
		source.MustImport(t, s.imports, inOrder(n))
		seen = nil
		r := runScript(t, "1", server.URL+"/base/", "root", password)
		if r.code != 0 || r.files(t) != "comments_hierarchy_export.json" {
			t.Fatalf("%d records: exit code %d, left %s\n%s", n, r.code, r.files(t), r.stderr)
		}
		if len(seen) != max(1, (n+9999)/10_000) || !strings.HasSuffix(seen[0], " "+password+"Basic ") {
			t.Errorf("%d records: asked %q", n, seen)
		}
		c := &client.Client{Base: server.URL + "/base", SignIn: func(r *http.Request) { r.SetBasicAuth("root", password) }}
		file := filepath.Join(t.TempDir(), "export.json")
		if _, err := c.Export(t.Context(), file, nil); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if r.output(t) != string(want) {
			t.Errorf("%d records: the script's file and the client's differ", n)
		}
		if strings.Contains(r.argv, "p\"a") || strings.Contains(r.argv, "root") {
			t.Errorf("the password is seen by everybody: %s", r.argv)
		}
	}
	seen = nil
	if r := runScript(t, "1", server.URL+"/base", "", "root"); r.code != 0 || !strings.HasSuffix(seen[0], "Bearer") {
		t.Errorf("with a token: %d %q\n%s", r.code, seen, r.stderr)
	}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"1", server.URL + "/base", "stranger", "x"}, "user or password (401)"},
		{[]string{"1", server.URL + "/base", "admin", "x"}, "use an administrator (403)"},
		{[]string{"1", server.URL, "root", "x"}, "there is no export at"},
		{[]string{"1", "jira.example.com"}, "is no URL"},
		{[]string{"1", server.URL}, "the input has ended"},
		{[]string{"7"}, "no choice"},
	} {
		if r := runScript(t, c.lines...); r.code != 1 || r.files(t) != "" || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: exit code %d, left %q\n%s", c.lines, r.code, r.files(t), r.stderr)
		}
	}
	if r := runScript(t, "2"); r.code != 0 || r.files(t) != "" {
		t.Errorf("quitting: %d", r.code)
	}
}

// Servers that are not ours write JSON in other ways, and have bad moments.
func TestScriptAgainstOthers(t *testing.T) {
	big := source.Rec(9007199254740993, 9223372036854775807, 9007199254740995) // beyond what a float holds
	pretty := func(offset int, r threads.Record, more bool, total int) string {
		return fmt.Sprintf("{\r\n  \"totalCount\" : %d,\r\n  \"hasMore\" : %v,\r\n  \"data\" : [ {\r\n    \"parentCommentId\" : \"%d\",\r\n    \"commentId\" : %d,\r\n    \"issueId\" : %d\r\n  } ],\r\n  \"offset\" : %d\r\n}\r\n",
			total, more, r.ParentCommentID, r.CommentID, r.IssueID, offset)
	}
	var answers []func(w http.ResponseWriter)
	status := func(code int, text string, headers ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(code)
			fmt.Fprint(w, text)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := answers[0]
		answers = answers[1:]
		answer(w)
	}))
	t.Cleanup(server.Close)
	ask := func(with ...func(http.ResponseWriter)) run {
		t.Helper()
		answers = with
		return runScript(t, "1", server.URL, "root", "x")
	}
	cut := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `{"offset":0,"data":[`)
	}
	r := ask(status(503, "", "Retry-After", "0"), cut, status(200, pretty(0, big, true, 2)), status(429, "", "retry-after", "1"),
		status(200, pretty(1, source.Rec(1, 3, 2), false, 2)))
	want := "[\n" + string(format.AppendRecord(nil, big)) + ",\n" + string(format.AppendRecord(nil, source.Rec(1, 3, 2))) + "\n]\n"
	if r.code != 0 || r.output(t) != want {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	r = ask(status(200, pretty(0, big, true, 3)), status(200, pretty(1, source.Rec(1, 3, 2), false, 2)))
	if r.code != 2 || r.output(t) != want || !strings.Contains(r.stderr, "changed meanwhile") {
		t.Errorf("a total that changes: %d\n%s", r.code, r.stderr)
	}
	for _, c := range []struct {
		answer func(http.ResponseWriter)
		want   string
	}{
		{status(200, "<html>Sign in</html>"), "no export page"},
		{status(200, `{"offset":0,"data":[],"hasMore":true,"totalCount":9}`), "gives nothing"},
		{status(200, `{"offset":0,"data":[{"commentId":1,"issueId":2}],"hasMore":false,"totalCount":1}`), "could not be read"},
		{status(302, "", "Location", "https://elsewhere.example/login"), "https://elsewhere.example/login"},
		{status(418, "no\x1bcoffee"), "answered 418: nocoffee"},
	} {
		if r := ask(c.answer); r.code != 1 || r.files(t) != "" || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit code %d, left %q\n%s", c.want, r.code, r.files(t), r.stderr)
		}
	}
}
