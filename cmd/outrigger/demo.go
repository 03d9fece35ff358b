package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"outrigger/internal/app"
	"outrigger/internal/config"
	"outrigger/internal/secret"
)

// demoConnection is the name of the platform that the demo plays.
const demoConnection = "demo"

type demoCmd struct {
	Listen hostPort `help:"Host and port to listen on." default:"127.0.0.1:8090" placeholder:"ADDR"`
	Day    bool     `help:"Play a team's day: an event every 5 s for 3 minutes. --no-day leaves it to buttons." default:"true" negatable:""`
}

// hostPort is where a demo listens. It is no path of a socket: the demo opens the next
// ports too.
type hostPort string

// Validate is called by the parser of arguments.
func (a hostPort) Validate() error {
	if network, _ := config.SplitListen(string(a)); network != "tcp" {
		return errors.New("the demo has several ports; write host:port, such as 127.0.0.1:8090")
	}
	return config.CheckListen(string(a))
}

func (c demoCmd) Run(ctx context.Context, s streams) (err error) {
	dir, err := os.MkdirTemp("", "outrigger-demo-")
	if err != nil {
		return fmt.Errorf("create the temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg := c.config(dir)
	level := new(slog.LevelVar)
	level.Set(app.LogLevel(cfg.Log))
	log := app.NewLogger(cfg.Log, level, s.out)
	d, err := app.NewDemo(cfg, app.Options{Log: log, Version: version, Level: level})
	if err != nil {
		return err
	}
	return runApp(ctx, d, log, func() {
		if c.Day {
			d.PlayDay()
		}
		fmt.Fprintf(s.out, `
Outrigger is running.

  console    %-33s sign in as admin with the password  %s
  chat       %-33s watch the cards of a team's day arrive, or send events yourself
  mail       %-33s let the smarthost defer or refuse mail, and watch messages wait
  cloud      %-33s download two files, migrate them and see the threads arrive
  bitbucket  %-33s send events of the cloud edition, and withdraw Ada's authorisation
  SMTP       %-33s send mail here from any program: no TLS, no password
  sign-on    %-33s plays an OpenID Connect provider: sign in with it as ada, an administrator, or grace
  docs       %-33s how to set up a server of your own

All data is in a temporary folder. Press Ctrl-C to end the demo and remove it.
%s
`, d.URL(), cfg.AdminPassword.Reveal(), d.ChatURL(), d.MailURL(), d.CloudURL(), d.CodeCloudURL(), d.MailAddr(),
			cfg.Identity.OIDC.Issuer, d.URL()+"/docs/", c.warning())
	})
}

// config returns the configuration of a new installation with one platform, whose chat
// channels may be on this machine.
func (c demoCmd) config(dir string) *config.Config {
	cfg := config.Default()
	cfg.Listen = string(c.Listen)
	cfg.DataDir = filepath.Join(dir, "data")
	cfg.AdminPassword = secret.New(secret.Random(9))
	cfg.Log.Level = "warn"
	cfg.Mail.Listen = "127.0.0.1:0"
	cfg.Notify.AllowedNetworks = []string{"127.0.0.0/8", "::1/128"}
	cfg.Notify.Connections = []config.Connection{{
		Name: demoConnection, Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com",
		WebhookSecret: secret.New(secret.Random(24)), Token: secret.New(secret.Random(24)),
	}}
	return cfg
}

// warning returns a warning if other machines can reach the demo, and else "".
func (c demoCmd) warning() string {
	if config.Loopback(string(c.Listen)) {
		return ""
	}
	return fmt.Sprintf(`
WARNING: the demo listens on %s, which other machines can reach. Its chat,
mail and cloud pages need no password, and all traffic is plain HTTP.
`, c.Listen)
}
