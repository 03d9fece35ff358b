package main

import (
	"context"
	"errors"
	"fmt"

	"outrigger/internal/app"
	"outrigger/internal/config"
)

type secretsCmd struct {
	Rotate secretsRotateCmd `cmd:"" help:"Encrypt what is stored with a new key. With secret_key, give the old one as secret_key_previous; else a new secret.key is made, while the server is stopped."`
	Forget secretsForgetCmd `cmd:"" help:"Give up what a lost key encrypted: webhook URLs, tokens and secrets have to be entered again."`
}

// databaseFlags say which database a command works on by itself.
type databaseFlags struct {
	configFlag
	Data string `help:"The data folder, in place of the setting data_dir." placeholder:"DIR"`
}

func (f databaseFlags) app(s streams) (*app.App, *config.Config, error) {
	flags := map[string]string{}
	if f.Data != "" {
		flags["data_dir"] = f.Data
	}
	cfg, err := loadConfig(s, f.Config, flags)
	if err != nil {
		return nil, nil, err
	}
	a, err := app.New(cfg, app.Options{Version: version})
	return a, cfg, err
}

type secretsRotateCmd struct{ databaseFlags }

func (c secretsRotateCmd) Run(ctx context.Context, s streams) error {
	a, cfg, err := c.app(s)
	if err != nil {
		return err
	}
	sealed, lost, err := a.RotateSecrets(ctx)
	if err != nil {
		return err
	}
	rest := "Remove secret_key_previous from the configuration."
	if cfg.SecretKey.IsZero() {
		rest = "The old key is secret.key.previous in the data folder: keep it with the backups that need it."
	}
	if _, err := fmt.Fprintf(s.out, "Values encrypted with the new key: %d. %s\n", sealed, rest); err != nil {
		return err
	}
	if lost > 0 {
		return coded{exitLook, fmt.Errorf("values that open with neither key and stay as they are: %d; enter them again", lost)}
	}
	return nil
}

type secretsForgetCmd struct {
	databaseFlags
	yesFlag
}

func (c secretsForgetCmd) Run(ctx context.Context, s streams) error {
	a, _, err := c.app(s)
	if err != nil {
		return err
	}
	err = c.sure(ctx, s, "Give up every webhook URL, token and secret that the present key does not open?")
	if err != nil {
		return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	}
	lost, err := a.ForgetSecrets(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "Values given up: %d. Start the server: the rules, connections and hooks that lack one say so.\n", lost)
	return err
}
