package main

import (
	"context"
	"errors"
	"fmt"

	"outrigger/internal/app"
	"outrigger/internal/config"
)

type secretsCmd struct {
	Rotate secretsRotateCmd `cmd:"" help:"${rotate}"`
	Forget secretsForgetCmd `cmd:"" help:"Discard what a lost key encrypted. You then enter webhook URLs, tokens and secrets again."`
}

// databaseFlags say which database a command works on by itself.
type databaseFlags struct {
	configFlag
	Data string `help:"The data folder; overrides the setting data_dir." placeholder:"DIR"`
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
		rest = "The old key was kept as secret.key.previous in the data folder. Keep it with the backups that were made before."
	}
	if _, err := fmt.Fprintf(s.out, "Values encrypted with the new key: %d. %s\n", sealed, rest); err != nil {
		return err
	}
	if lost > 0 {
		return coded{exitLook, fmt.Errorf("values that neither key decrypts, left as they are: %d; enter them again", lost)}
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
	err = c.sure(ctx, s, "Discard every webhook URL, token and secret that the current key cannot decrypt?")
	if err != nil {
		return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	}
	lost, err := a.ForgetSecrets(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "Values discarded: %d. Start the server. The console marks the rules, connections and hooks whose secret "+
		"you have to enter again.\n", lost)
	return err
}
