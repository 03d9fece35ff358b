package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"outrigger/internal/backup/api"
)

type backupCmd struct {
	Make    backupMakeCmd    `cmd:"" default:"withargs" help:"Write a backup of a running server's database to a file."`
	Confirm backupConfirmCmd `cmd:"" help:"Let a restored server start sending."`
}

type backupMakeCmd struct {
	clientFlags
	File string `arg:"" help:"The file to write; it must not exist. - writes to standard output."`
}

func (c backupMakeCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	r, err := server.request(ctx, http.MethodGet, api.Path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return server.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return server.refusal(resp)
	}
	if c.File == "-" {
		_, err := io.Copy(s.out, resp.Body)
		return err
	}
	if _, err := os.Lstat(c.File); err == nil {
		return fmt.Errorf("%s already exists; choose another file", c.File)
	}
	// Linked, so that a file that came meanwhile stays.
	size, err := saveWhole(c.File, resp.Body, func(part string) error { return os.Link(part, c.File) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "Wrote %d bytes to %s. Keep the server's key (secret_key, or secret.key in its data folder) as well: the secrets in a backup cannot be read without it.\n", size, c.File)
	return err
}

type backupConfirmCmd struct{ clientFlags }

func (c backupConfirmCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	if err := server.do(ctx, http.MethodPost, api.Path+"/confirm", nil, nil); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, "The server sends again.")
	return err
}

type restoreCmd struct {
	databaseFlags
	yesFlag
	File string `arg:"" help:"A file that outrigger backup wrote."`
}

func (c restoreCmd) Run(ctx context.Context, s streams) error {
	a, cfg, err := c.app(s)
	if err != nil {
		return err
	}
	if err := c.sure(ctx, s, fmt.Sprintf("Replace the database in %[2]s with %[1]s?", c.File, cfg.DataDir)); err != nil {
		return err
	}
	kept, err := a.Restore(ctx, c.File)
	if err != nil {
		return err
	}
	if kept != "" {
		fmt.Fprintf(s.out, "The previous database was kept as %s.\n", filepath.Join(cfg.DataDir, kept))
	}
	_, err = fmt.Fprintf(s.out, "Restored %s. Start the server. It sends nothing until you confirm the restore, on the Overview page or with outrigger backup confirm.\n", c.File)
	return err
}
