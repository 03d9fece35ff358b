package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/documented"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
)

// reader is a person with the documentation, a folder and a running server.
type reader struct {
	t                *testing.T
	dir, url, prefix string
	stop             func()
}

func newReader(t *testing.T) *reader {
	w := &reader{t: t, dir: t.TempDir()}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "ten-minutes.md"))
	if err != nil {
		t.Fatal(err)
	}
	w.save(string(text))
	w.write("webhook-secret", "a secret of the webhooks of the page\n")
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mail := smarthost.New(smarthost.Options{})
	go func() { _ = mail.Serve(host) }()
	t.Cleanup(mail.Close)
	port, err := loadtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	w.url = "http://" + address
	// Other programs may have the ports of the page.
	w.prefix = "export OUTRIGGER_SERVER=" + w.url + " OUTRIGGER_LISTEN=" + address + " OUTRIGGER_MAIL_LISTEN=127.0.0.1:0 OUTRIGGER_MAIL_SMARTHOST=" +
		host.Addr().String() + " OUTRIGGER_MAIL_SMARTHOST_TLS=none OUTRIGGER_LOG_FORMAT=text\n"
	w.serve()
	return w
}

// serve starts the server as the first page tells, and waits until it is ready.
func (w *reader) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, "sh", "-c", w.prefix+"exec outrigger serve --config outrigger.yaml")
	server.Dir, server.Cancel = w.dir, func() error { return server.Process.Signal(os.Interrupt) }
	var log strings.Builder
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		w.t.Fatal(err)
	}
	ended := false
	w.stop = func() {
		if cancel(); !ended {
			_ = server.Wait() // by the signal
			ended = true
		}
		if w.t.Failed() {
			w.t.Log(log.String())
		}
	}
	w.t.Cleanup(w.stop)
	deadline := time.Now().Add(patience)
	for tick := time.NewTicker(50 * time.Millisecond); ; <-tick.C {
		resp, err := http.Get(w.url + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("the server is not ready: %v", err)
		}
	}
	password, err := os.ReadFile(filepath.Join(w.dir, "outrigger-data", "initial-password"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.write("admin-password", string(password))
}

// save saves the files that a page shows.
func (w *reader) save(page string) {
	for _, m := range shownFile.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(m[1], "/") { // below the reader's folder
			w.write(m[1], m[2]+"\n")
		}
	}
}

func (w *reader) write(name, text string) {
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// run runs commands of a page in one shell, as a reader does who replaces addresses
// and folders of the examples by those at hand.
func (w *reader) run(commands []documented.Command) int {
	if len(commands) == 0 {
		return 0
	}
	password, err := os.ReadFile(filepath.Join(w.dir, "admin-password"))
	if err != nil {
		w.t.Fatal(err)
	}
	own := strings.NewReplacer(
		"https://outrigger.example.com", w.url, "https://jira.example.com", w.url, "/etc/outrigger/", "./", "/etc/prometheus/rules/", "./",
		"curl -u admin ", "curl -u admin:$admin ", "-X POST -u admin ", "-X POST -u admin:$admin ", "-X PUT -u admin ", "-X PUT -u admin:$admin ",
		"curl --user admin ", "curl --user admin:$admin ", "OUTRIGGER_TOKEN=…", "OUTRIGGER_TOKEN=$(cat printed)",
		"threads undo ", "threads undo --yes ", "threads reset ", "threads reset --yes ", "outrigger restore ", "outrigger restore --yes ",
	)
	script := w.prefix + "curl() { command curl -sS --fail-with-body \"$@\"; }\nadmin=" + strings.TrimSpace(string(password)) + "\nas='--user admin --password-file admin-password'\n"
	for i, c := range commands {
		if before := in(madeBefore, c); before != "" {
			script += before + "\n"
		}
		script += fmt.Sprintf("{ %s\n} > printing 2> said\ncode=$?; mv printing printed\n", own.Replace(c.Text))
		script += fmt.Sprintf("[ $code = 0 ] || [ $code = '%s' ] || { echo \"command %d ended with $code:\"; cat said printed; }\n", in(mayEnd, c), i)
	}
	w.write("script", script)
	shell := exec.CommandContext(w.t.Context(), "sh", "script")
	shell.Dir = w.dir
	out, err := shell.CombinedOutput()
	if err != nil || strings.Contains(string(out), " ended with ") {
		w.t.Errorf("%s: %v\n%s", commands[0].Page, err, out)
		for i, c := range commands {
			w.t.Logf("command %d: %s", i, c.Text)
		}
	}
	return len(commands)
}
