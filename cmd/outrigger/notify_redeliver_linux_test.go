package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What redelivers more than one asks at a terminal, with the number and what is
// skipped and why; what is sent then has the number and the time of the question.
func TestManyRedeliveriesAreAskedAbout(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	const at = "2026-02-05T16:20:11.482013Z"
	const answered = "&asOf=2026-02-05T16%3A20%3A11.482013Z"
	for _, c := range []struct {
		args, answer              string
		count, skipped, forbidden int
		question                  string
		code                      int
		sent                      string
	}{
		{"--state failed", "y", 12, 3, 1, "Redeliver 12 deliveries? Skipped: 3 that no enabled rule takes any more; 1 with a rule that you do not administer. [y/N]", exitDone,
			"GET state=failed POST " + answered[1:] + "&count=12&state=failed"},
		{"--state failed", "n", 12, 0, 0, "Redeliver 12 deliveries? [y/N]", exitFailed, "GET state=failed"},
		{"--state cancelled --rule 7", "", 2, 0, 0, "Redeliver 2 deliveries?", exitFailed, "GET filterId=7&state=cancelled"},
		{"--state failed", "n", 1, 5, 0, "", exitDone, "GET state=failed POST " + answered[1:] + "&count=1&state=failed"},
		{"--state failed --yes", "n", 12, 0, 0, "", exitDone, "POST state=failed"},
		{"1 2 3", "y", 0, 0, 0, "Redeliver 3 deliveries?", exitDone, "POST id=1 POST id=2 POST id=3"},
		{"1 2 3", "n", 0, 0, 0, "Redeliver 3 deliveries?", exitFailed, ""},
		{"1", "n", 0, 0, 0, "", exitDone, "POST id=1"},
	} {
		t.Run(c.args+" "+c.answer, func(t *testing.T) {
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent = append(sent, r.Method, r.URL.RawQuery)
				if r.Method == "GET" {
					fmt.Fprintf(w, `{"count":%d,"skipped":%d,"forbidden":%d,"asOf":%q}`, c.count, c.skipped, c.forbidden, at)
					return
				}
				fmt.Fprint(w, `{"redelivered":1,"skipped":0,"forbidden":0}`)
			}))
			defer server.Close()
			var out, errs strings.Builder
			args := append([]string{"notify", "redeliver"}, strings.Fields(c.args)...)
			code := run(t.Context(), append(args, "--server", server.URL, "--token-file", token), streams{terminal(t, c.answer), &out, &errs})
			if code != c.code || strings.Join(sent, " ") != c.sent {
				t.Errorf("code %d, want %d; sent %q, want %q; %s", code, c.code, sent, c.sent, errs.String())
			}
			if asked := strings.Contains(errs.String(), "[y/N]"); asked != (c.question != "") || !strings.Contains(errs.String(), c.question) {
				t.Errorf("it asked %q, want %q", errs.String(), c.question)
			}
		})
	}
}
