package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"outrigger/internal/app"
	"outrigger/internal/config"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"outrigger": main})
}

// TestScripts runs the command line as people do; each script says what one
// command promises.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"server": startServer, "fails": fails, "send-mail": sendMail, "add-rule": addRule, "rest": askREST, "awaits": awaits},
		Setup: func(env *testscript.Env) error {
			// Golden files of the settings are those of the package.
			return os.CopyFS(filepath.Join(env.WorkDir, "config"), os.DirFS(filepath.Join("..", "..", "internal", "config", "testdata")))
		},
	})
}

// fails is the script command `fails CODE program arguments…`: the program must
// end with the exit code.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE program arguments…")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("it ended with %v, not %s", err, args[0])
	}
}

// patience bounds waiting for what must happen, on a machine that is busy with
// other things.
const patience = time.Minute

// awaits is the script command `awaits REGEXP program arguments…`: the program is
// run until its output matches.
func awaits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: awaits REGEXP program arguments…")
	}
	wanted := regexp.MustCompile("(?m)" + args[0])
	again, limit := time.NewTicker(100*time.Millisecond), time.After(patience)
	defer again.Stop()
	for {
		if err := ts.Exec(args[1], args[2:]...); err == nil && wanted.MatchString(ts.ReadFile("stdout")) {
			return
		}
		select {
		case <-limit:
			ts.Fatalf("%s did not come within %s", args[0], patience)
		case <-again.C:
		}
	}
}

const (
	adminPassword = "correct horse battery staple"
	hookSecret    = "shared with the platform"
)

// startServer is the script command `server`: it starts a server for the rest
// of the script, and names it in OUTRIGGER_SERVER. The password of admin is in
// the file password, the secret of its connection main in the file hook-secret.
// $LISTEN is its address, $SMTP that of its relay.
func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: server")
	}
	cfg := config.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.DataDir = ts.MkAbs("data")
	cfg.NodeID = "script"
	cfg.Mail.Listen = "127.0.0.1:0"
	cfg.AdminPassword = secret.New(adminPassword)
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New(hookSecret),
	}}
	a, err := app.New(cfg, app.Options{})
	ts.Check(err)
	ts.Check(a.Start(context.Background()))
	ts.Defer(func() { // where a failure would be a panic
		if err := a.Stop(context.Background()); err != nil {
			ts.Logf("stopping the server: %v", err)
		}
	})
	ts.Check(os.WriteFile(ts.MkAbs("password"), []byte(adminPassword+"\n"), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("hook-secret"), []byte(hookSecret+"\n"), 0o600))
	ts.Setenv("OUTRIGGER_SERVER", a.URL())
	ts.Setenv("LISTEN", a.Addr())
	ts.Setenv("SMTP", a.MailAddr())
}

// sendMail is the script command `send-mail FILE recipients…`: it gives the
// server's relay a message.
func sendMail(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: send-mail FILE recipients…")
	}
	body := strings.ReplaceAll(ts.ReadFile(args[0]), "\n", "\r\n")
	ts.Check(smtp.SendMail(ts.Getenv("SMTP"), nil, "jira@example.com", args[1:], []byte(body)))
}

// addRule is the script command `add-rule CHANNEL`: the server has a rule with a
// channel of that name.
func addRule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: add-rule CHANNEL")
	}
	rule := `{"name": "a rule", "eventTypes": ["TAG_CREATED"], "webhookUrl": "https://chat.example.com/hook", "channelName": "` + args[0] + `"}`
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, ts.Getenv("OUTRIGGER_SERVER")+"/rest/mtbs/1.0/configuration/filter", strings.NewReader(rule))
	ts.Check(err)
	r.SetBasicAuth("admin", adminPassword)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	ts.Check(err)
	ts.Check(resp.Body.Close())
	if resp.StatusCode != http.StatusCreated {
		ts.Fatalf("saving the rule: %s", resp.Status)
	}
}

// askREST is the script command `rest METHOD PATH FILE`: the server takes a JSON
// body as admin.
func askREST(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: rest METHOD PATH FILE")
	}
	r, err := http.NewRequestWithContext(context.Background(), args[0], ts.Getenv("OUTRIGGER_SERVER")+args[1], strings.NewReader(ts.ReadFile(args[2])))
	ts.Check(err)
	r.SetBasicAuth("admin", adminPassword)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	ts.Check(err)
	answer, err := io.ReadAll(resp.Body)
	ts.Check(errors.Join(err, resp.Body.Close()))
	if resp.StatusCode >= 300 {
		ts.Fatalf("%s: %s %s", args[1], resp.Status, answer)
	}
}

// Secrets come from files and the environment: command lines are seen by
// everyone on the machine.
func TestNoSecretOnTheCommandLine(t *testing.T) {
	parser, err := newParser(t.Context(), new(commands), streams{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(false) {
		for _, flags := range leaf.AllFlags(false) {
			for _, flag := range flags {
				switch flag.Name {
				case "password", "new-password", "token", "secret", "webhook-secret", "key":
					t.Errorf("%s takes a secret as --%s", leaf.Path(), flag.Name)
				}
			}
		}
	}
}

func TestDetailsAreOfCommands(t *testing.T) {
	parser, err := newParser(t.Context(), new(commands), streams{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	known := details()
	for _, leaf := range parser.Model.Leaves(false) {
		delete(known, leaf.Path())
	}
	for path := range known {
		t.Errorf("there is no command %q", path)
	}
}
