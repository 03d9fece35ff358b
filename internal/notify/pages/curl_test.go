package pages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// The command posts the message byte for byte, in each shell, whatever is in it.
func TestCurlInShells(t *testing.T) {
	var posted atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted.Store(r.Method + " " + r.URL.String() + " " + r.Header.Get("Content-Type") + "\n" + string(body))
	}))
	defer server.Close()
	const to = "/invoke?api-version=1&sp=%2Ftriggers&sig=a%20b'c$d"
	for _, message := range []string{
		`{}`, `{"text":"it's"}`, `''`, `'''"'"'`, `{"text":"\"quoted\" \\ \n"}`, "{\"text\":\n\n\t\"lines\"\n}\n", "\r\n", `$HOME ${HOME} $(id) ` + "`id`", `!! !$ \! \\`,
		"%s %n %%", "@/etc/passwd", "-X", "ünï ☃ 😀 \u202Eright\u2066 \ufeff", "a\\\nb", "\\", "~ * ? [a] {b,c} # ; & | < >", strings.Repeat(`'`, 20<<10), strings.Repeat("é'\n", 5<<10),
	} {
		for _, shell := range []string{"dash", "bash"} {
			posted.Store("")
			cmd := exec.CommandContext(t.Context(), shell, "-c", curlOf(message))
			cmd.Env = append(cmd.Environ(), "WEBHOOK_URL="+server.URL+to)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s, %.40q: %v %s", shell, message, err, out)
			}
			if want := "POST " + to + " application/json; charset=utf-8\n" + message; posted.Load() != want {
				t.Errorf("%s posts %.200q, want %.200q", shell, posted.Load(), want)
			}
		}
	}
}

func TestJSONIsIndented(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":[1,{"b":"<é>"}]}`:   "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"<é>\"\n    }\n  ]\n}",
		`{"error":{"code":"cut o`: `{"error":{"code":"cut o`,
		"<html>busy</html>":       "<html>busy</html>",
		"":                        "",
	} {
		if got := indented(text); got != want {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
