package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"outrigger/internal/app"
	"outrigger/internal/backup"
	"outrigger/internal/backup/api"
)

type backupConfirmCmd struct {
	clientFlags
	codeFlag
	databaseFlags
	yesFlag
	KeepToken []int64 `help:"Let this token, which is refused since the restore, work again. Can be repeated." placeholder:"ID"`
	Local     bool    `help:"Work on the database directly; with SQLite, while the server is stopped. The configuration says where it is."`
}

func (c backupConfirmCmd) Run(ctx context.Context, s streams) error {
	if c.Local {
		return c.local(ctx, s)
	}
	server, err := c.confirming(c.clientFlags)
	if err != nil {
		return err
	}
	var state api.RestoreState
	if err := server.do(ctx, http.MethodGet, api.ConfirmPath, nil, &state); err != nil {
		return err
	}
	if err := c.ask(ctx, s, state); err != nil {
		return err
	}
	var body any
	if len(c.KeepToken) > 0 {
		body = api.Confirmation{KeepTokens: c.KeepToken}
	}
	if err := server.do(ctx, http.MethodPost, api.ConfirmPath, body, nil); err != nil {
		return err
	}
	return c.done(s, state, "The server sends again.")
}

func (c backupConfirmCmd) local(ctx context.Context, s streams) error {
	a, _, err := c.app(s)
	if err != nil {
		return err
	}
	service, err := a.StartBackup(ctx)
	if err == nil {
		err = c.confirmLocal(app.AsCommand(ctx), s, service)
	}
	return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
}

func (c backupConfirmCmd) confirmLocal(ctx context.Context, s streams, service *backup.Service) error {
	state, err := api.StateOf(ctx, service)
	if err != nil {
		return err
	}
	if err := c.ask(ctx, s, state); err != nil {
		return err
	}
	if err := service.Confirm(ctx, c.KeepToken...); err != nil {
		return err
	}
	return c.done(s, state, "Confirmed. A server that runs begins to send within seconds, any other when it starts.")
}

// ask says what happened, what access holds again and what would go out, and asks for it.
func (c backupConfirmCmd) ask(ctx context.Context, s streams, state api.RestoreState) error {
	if !state.Held {
		if len(c.KeepToken) == 0 {
			return backup.ErrNotHeld()
		}
		return nil
	}
	fmt.Fprintf(s.out, "%s\n%s\n", state.Text, state.Access)
	for _, list := range []struct {
		title  string
		tokens []api.RestoredToken
	}{{"Refused until kept with --keep-token ID:", state.Resting}, {"Working:", state.Working}} {
		if len(list.tokens) > 0 {
			fmt.Fprintln(s.out, list.title)
		}
		for _, t := range list.tokens {
			fmt.Fprintln(s.out, " ", t)
		}
	}
	fmt.Fprintln(s.out, backup.Pending(state.Waiting))
	return c.sure(ctx, s, "Start sending?")
}

func (c backupConfirmCmd) done(s streams, state api.RestoreState, sends string) error {
	if !state.Held {
		sends = "The tokens work again."
	}
	_, err := fmt.Fprintln(s.out, sends)
	return err
}

type restoreCmd struct {
	databaseFlags
	yesFlag
	Mark bool   `help:"Another tool, such as pg_restore, restored the database: send nothing until you confirm it. Servers see it in seconds."`
	File string `arg:"" optional:"" help:"A file that outrigger backup wrote."`
}

const heldFrom = "It sends nothing until you confirm the restore, on the Overview page or with outrigger backup confirm."

func (c restoreCmd) Run(ctx context.Context, s streams) error {
	if c.Mark == (c.File != "") {
		return usage("give the file of a backup, or --mark for a database that another tool has restored")
	}
	a, cfg, err := c.app(s)
	if err != nil {
		return err
	}
	if c.Mark {
		if err := a.MarkRestored(ctx); err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, "Marked the database as restored. Start the server, where it does not run. "+heldFrom)
		return err
	}
	if err := c.sure(ctx, s, fmt.Sprintf("Replace the database in %[2]s with %[1]s?", c.File, cfg.DataDir)); err != nil {
		return err
	}
	replaced, err := a.Restore(ctx, c.File)
	if err != nil {
		return err
	}
	if replaced.Kept != "" {
		fmt.Fprintf(s.out, "The previous database was kept as %s.\n", filepath.Join(cfg.DataDir, replaced.Kept))
	}
	if replaced.Why == nil {
		fmt.Fprintln(s.out, replaced.Carried)
	} else {
		fmt.Fprintf(s.out, "What had ended since could not be carried over from the previous database: %v.\n%s\n", replaced.Why, backup.AsThen)
	}
	_, err = fmt.Fprintf(s.out, "Restored %s. Start the server. %s\n", c.File, heldFrom)
	return err
}
