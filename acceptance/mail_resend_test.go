package acceptance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/smtp"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
)

// console is a browser without a window, signed in as admin.
func console(t *testing.T, p *loadtest.Process) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar, Timeout: patience}
	submit(t, c, p, "/sign-in", url.Values{"user": {"admin"}, "password": {loadtest.AdminPassword}})
	return c
}

// submit sends a form of the console's.
func submit(t *testing.T, c *http.Client, p *loadtest.Process, path string, form url.Values) {
	t.Helper()
	resp, err := c.PostForm("http://"+p.Addr()+path, form)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || strings.Contains(resp.Request.URL.Path, "sign-in") {
		t.Fatalf("POST %s led to %s: %s", path, resp.Request.URL, resp.Status)
	}
}

// outrigger runs the command line against a node, as admin.
func outrigger(t *testing.T, p *loadtest.Process, args ...string) string {
	t.Helper()
	file := filepath.Join(p.Settings.Dir, "password")
	if err := os.WriteFile(file, []byte(loadtest.AdminPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append(args, "--server", "http://"+p.Addr(), "--user", "admin", "--password-file", file)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("outrigger %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestMailResent has a smarthost refuse, want a password, and go away. The two
// sizes follow; messages that are resent from the console and from the command
// line, one and all, arrive with the bytes that they had.
func TestMailResent(t *testing.T) {
	t.Parallel()
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			host, at := smarthostAt(t, 100)
			p := node(t, loadtest.Settings{DatabaseURL: database(t), NodeID: "node_1", MailListen: freeAddress(t), Smarthost: at})
			start(t, p)
			sent := make(map[string]bool) // by their hashes
			send := func(messages int) {
				t.Helper()
				for range messages {
					// smtp.SendMail doubles the dots, and changes nothing else of this.
					text := fmt.Sprintf("From: jira@example.com\r\nSubject: number %d\r\n\r\n.\r\n..\r\n.dots\r\ncaf\xc3\xa9\r\n\r\nthe end\r\n", len(sent))
					if err := smtp.SendMail(p.Settings.MailListen, nil, "jira@example.com", []string{"ada@example.org"}, []byte(text)); err != nil {
						t.Fatal(err)
					}
					sent[fmt.Sprintf("%x", sha256.Sum256([]byte(text)))] = true
				}
			}
			becomes := func(what string, size, errors int64) {
				t.Helper()
				until(t, patience, what, func() bool { return mailStatus(t, p) == sizes{size, errors} })
			}
			host.SetFaultMode(smarthost.Refuses)
			send(5)
			becomes("refused: 0 and 5", 0, 5)
			host.SetFaultMode(smarthost.Defers)
			submit(t, console(t, p), p, "/mail/messages/1/resend", nil)
			becomes("one resent from the console, and deferred: 1 and 4", 1, 4)
			outrigger(t, p, "mail", "resend", "2")
			becomes("one resent from the command line, and deferred: 2 and 3", 2, 3)
			host.SetFaultMode(smarthost.Locked)
			send(1)
			outrigger(t, p, "mail", "flush", "--yes")
			until(t, patience, "the refusal is said of each message", func() bool {
				return strings.Count(outrigger(t, p, "mail", "list", "--state", "waiting"), "530 5.7.0 Authentication required") == 3
			})
			becomes("a password is wanted, which is no message's fault: 3 and 3", 3, 3)
			host.SetFaultMode(smarthost.Away)
			submit(t, console(t, p), p, "/mail/resend", url.Values{"node": {"node_1"}, "asOf": {time.Now().UTC().Format(time.RFC3339Nano)}, "count": {"3"}})
			becomes("all resent from the console, with the smarthost away: 6 and 0", 6, 0)
			host.SetFaultMode(smarthost.Refuses)
			outrigger(t, p, "mail", "flush", "--yes")
			becomes("and refused: 0 and 6", 0, 6)
			host.SetFaultMode(smarthost.Accepts)
			outrigger(t, p, "mail", "resend", "--all", "--yes")
			becomes("all resent from the command line: 0 and 0", 0, 0)

			for _, m := range host.Messages() {
				// The relay's own line comes first, and goes on in the next.
				_, text, _ := bytes.Cut(m.Data, []byte("\r\nFrom: "))
				text = append([]byte("From: "), text...)
				sum := fmt.Sprintf("%x", sha256.Sum256(text))
				if !sent[sum] {
					t.Errorf("this was not sent: %q", m.Data)
				}
				delete(sent, sum)
			}
			if len(sent) > 0 {
				t.Errorf("%d messages did not arrive", len(sent))
			}
		})
	}
}
