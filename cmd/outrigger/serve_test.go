package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// running is a command that runs until it is stopped.
type running struct {
	lines *bufio.Scanner
	stop  context.CancelFunc
	code  chan int
}

// begin runs a command in this process; stop does what a signal does.
func begin(t *testing.T, args ...string) running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	p := running{bufio.NewScanner(out), stop, make(chan int, 1)}
	go func() {
		p.code <- run(ctx, args, streams{strings.NewReader(""), in, in})
		in.Close()
	}()
	t.Cleanup(func() {
		stop()
		io.Copy(io.Discard, out)
	})
	return p
}

// end stops the command and gives what it still wrote, and its exit code.
func (p running) end() (rest string, code int) {
	p.stop()
	for p.lines.Scan() {
		rest += p.lines.Text() + "\n"
	}
	return rest, <-p.code
}

// serve logs to standard output, JSON where that is no terminal, and ends with
// 0 when it is asked to.
func TestServe(t *testing.T) {
	t.Setenv("OUTRIGGER_MAIL_LISTEN", "127.0.0.1:0")
	p := begin(t, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"))
	var ready struct{ Msg, URL, Took string }
	for ready.Msg != "ready" && p.lines.Scan() {
		if err := json.Unmarshal(p.lines.Bytes(), &ready); err != nil {
			t.Fatalf("%s: %v", p.lines.Text(), err)
		}
	}
	resp, err := http.Get(ready.URL + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("readyz: %s", resp.Status)
	}
	rest, code := p.end()
	if code != exitDone || !strings.Contains(rest, `"msg":"stopped"`) || strings.Contains(rest, "WARN") {
		t.Errorf("it ended with %d and said\n%s", code, rest)
	}
}

// demo says where it is and how to sign in, and leaves nothing behind.
func TestDemo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := begin(t, "demo", "--listen", "127.0.0.1:0")
	var console, password, chat string
	for chat == "" && p.lines.Scan() {
		words := strings.Fields(p.lines.Text())
		if len(words) > 1 && words[0] == "console" {
			console, password = words[1], words[len(words)-1]
		}
		if len(words) > 1 && words[0] == "chat" {
			chat = words[1]
		}
	}
	r, err := http.NewRequest("GET", console+"/rest/mtbs/1.0/configuration/filter", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", password)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(rules), "Pull requests") {
		t.Errorf("the rules of the demo: %s %s %v", resp.Status, rules, err)
	}
	page, err := http.Get(chat)
	if err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	if page.StatusCode != http.StatusOK {
		t.Errorf("the chat platform's page: %s", page.Status)
	}
	// The played pages list no folders, and answer to no name that is not theirs.
	for _, c := range []struct {
		path, host string
		status     int
	}{
		{"web/chat.css", "", 200}, {"web/", "", 404}, {"mail/web/", "", 404}, {"cloud/web/", "", 404}, {"web", "", 404},
		{"", "localhost:1", 200}, {"", "evil.example.com", 421}, {"cloud/", "evil.example.com", 421}, {"mail/", "evil.example.com", 421},
	} {
		r, err := http.NewRequest("GET", chat+"/"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("/%s of %q: %d, want %d", c.path, c.host, resp.StatusCode, c.status)
		}
	}
	if rest, code := p.end(); code != exitDone || strings.Contains(rest, "WARNING") {
		t.Errorf("it ended with %d and said\n%s", code, rest)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) != 0 {
		t.Errorf("it left %v behind: %v", left, err)
	}
}

// A demo that other machines can reach says so.
func TestOpenDemoWarns(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := begin(t, "demo", "--listen", "0.0.0.0:0")
	for p.lines.Scan() && !strings.HasPrefix(p.lines.Text(), "WARNING: the demo listens on 0.0.0.0:0, which other machines can reach.") {
	}
	if p.lines.Text() == "" {
		t.Error("it does not warn")
	}
	if _, code := p.end(); code != exitDone {
		t.Errorf("it ended with %d", code)
	}
}
