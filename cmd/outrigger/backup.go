package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"outrigger/internal/backup/api"
)

type backupCmd struct {
	Make    backupMakeCmd    `cmd:"" default:"withargs" help:"Write a backup of a running server's database to a file."`
	Confirm backupConfirmCmd `cmd:"" help:"Let a restored server start sending."`
}

type backupMakeCmd struct {
	clientFlags
	codeFlag
	File string `arg:"" help:"The file to write; it must not exist. - writes to standard output."`
}

func (c backupMakeCmd) Run(ctx context.Context, s streams) error {
	server, err := c.confirming(c.clientFlags)
	if err != nil {
		return err
	}
	if err := writable(c.File); err != nil {
		return err
	}
	resp, err := server.ask(ctx, http.MethodGet, api.Path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if c.File == "-" {
		_, err := io.Copy(s.out, resp.Body)
		return err
	}
	body, err := spared(c.File, resp)
	if err != nil {
		return err
	}
	// Linked, so that a file that came meanwhile stays.
	size, err := saveWhole(c.File, body, func(part string) error { return os.Link(part, c.File) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "Wrote %d bytes to %s. Keep the server's key (secret_key, or secret.key in its data folder) as well: the "+
		"secrets in a backup cannot be read without it.\n", size, c.File)
	return err
}
