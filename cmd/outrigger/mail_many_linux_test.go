package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"outrigger/internal/mailqueue/api"
)

// terminal is one at which a person types an answer.
func terminal(t *testing.T, answer string) *os.File {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	if _, err := person.WriteString(answer + "\n"); err != nil {
		t.Fatal(err)
	}
	return program
}

// What deletes, resends or flushes more than one message asks at a terminal, with
// the number; what is sent then has the number and the time of the question, so that
// what came later is left alone.
func TestManyMessagesAreAskedAbout(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	const at = "2026-02-05T16:20:11.482013Z"
	for _, c := range []struct {
		args, answer string
		selected     int
		counted      string // the filter of the question
		question     string
		code         int
		sent         string
	}{
		{"delete --all", "y", 26, "", "Delete 26 messages? Recipients", exitDone, `POST delete {"all":true,"asOf":"` + at + `","count":26}`},
		{"delete --all", "n", 26, "", "Delete 26 messages?", exitFailed, ""},
		{"delete --all", "", 26, "", "Delete 26 messages?", exitFailed, ""},
		{"delete --state error --to @old.example", "yes", 3, "recipient=%40old.example&state=error", "Delete 3 messages?", exitDone,
			`POST delete {"asOf":"` + at + `","count":3,"recipient":"@old.example","state":"error"}`},
		{"delete --to bob", "n", 1, "recipient=bob", "", exitDone, `POST delete {"asOf":"` + at + `","count":1,"recipient":"bob"}`},
		{"resend --all", "y", 4, "state=error", "Resend 4 messages?", exitDone, `POST resend {"asOf":"` + at + `","count":4}`},
		{"resend --node a", "n", 4, "node=a&state=error", "Resend 4 messages?", exitFailed, ""},
		{"flush", "y", 9, "state=waiting", "Send 9 messages now?", exitDone, `POST flush {"asOf":"` + at + `","count":9}`},
		{"flush", "n", 0, "state=waiting", "", exitDone, `POST flush {"asOf":"` + at + `","count":0}`},
		{"flush --yes", "n", 9, "", "", exitDone, `POST flush {}`},
		{"delete 1 2 3", "y", 0, "", "Delete 3 messages?", exitDone, "DELETE 1  DELETE 2  DELETE 3"},
		{"delete 1 2 3", "n", 0, "", "Delete 3 messages?", exitFailed, ""},
		{"delete 7", "n", 0, "", "", exitDone, "DELETE 7"},
		{"resend 1 2", "y", 0, "", "Resend 2 messages?", exitDone, "POST resend  POST resend"},
	} {
		t.Run(c.args+" "+c.answer, func(t *testing.T) {
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == "GET" {
					if r.URL.Path != api.MailPath+"/count" || r.URL.RawQuery != c.counted {
						t.Errorf("it asked for %s", r.URL)
					}
					fmt.Fprintf(w, `{"messages":%d,"asOf":%q}`, c.selected, at)
					return
				}
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body)
				text, _ := json.Marshal(body)
				if body == nil {
					text = nil
				}
				sent = append(sent, fmt.Sprintf("%s %s %s", r.Method, filepath.Base(r.URL.Path), text))
				fmt.Fprint(w, `{"messages":1}`)
			}))
			defer server.Close()
			var out, errs strings.Builder
			args := append([]string{"mail"}, strings.Fields(c.args)...)
			code := run(t.Context(), append(args, "--server", server.URL, "--token-file", token), streams{terminal(t, c.answer), &out, &errs})
			if code != c.code || strings.TrimSpace(strings.Join(sent, " ")) != c.sent {
				t.Errorf("code %d, want %d; sent %q, want %q; %s", code, c.code, sent, c.sent, errs.String())
			}
			if asked := strings.Contains(errs.String(), "[y/N]"); asked != (c.question != "") || !strings.Contains(errs.String(), c.question) {
				t.Errorf("it asked %q, want %q", errs.String(), c.question)
			}
		})
	}
}
