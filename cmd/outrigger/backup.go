package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"outrigger/internal/backup/api"
	"outrigger/internal/db"
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

// writable fails where file exists or its folder cannot be written, before the
// server makes a backup for it. - is standard output.
func writable(file string) error {
	if file == "-" {
		return nil
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s already exists; choose another file", file)
	}
	probe, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return notWritten(file, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// spared returns the body of an answer, to be written to a file. It fails, and so does
// reading from it, before less than db.Space.Reserve of the file system is left: a
// server may have its data there.
func spared(file string, resp *http.Response) (io.Reader, error) {
	s := &spareReader{from: resp.Body, folder: filepath.Dir(file)}
	return s, s.short(max(resp.ContentLength, 0))
}

type spareReader struct {
	from   io.Reader
	folder string
	unseen int64 // bytes since the space was looked at
}

func (s *spareReader) Read(p []byte) (int, error) {
	if s.unseen >= 1<<20 {
		s.unseen = 0
		if err := s.short(0); err != nil {
			return 0, err
		}
	}
	n, err := s.from.Read(p)
	s.unseen += int64(n)
	return n, err
}

// short fails where size more bytes would use up the reserve.
func (s *spareReader) short(size int64) error {
	space, err := db.SpaceOf(s.folder)
	if err != nil || size <= space.Spare() {
		return nil // where it cannot be told, the write shows it
	}
	return fmt.Errorf("too little space in %s: the backup needs %s more, and %s are free, of which %s (a tenth of the disk, at most "+
		"20 GiB) stay free; choose a folder on another disk",
		s.folder, db.MiB(size), db.MiB(space.Free), db.MiB(space.Reserve()))
}
