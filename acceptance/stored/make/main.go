// Command make fills a database with a program and stores it with what the program said
// about it. scripts/store-databases.sh calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"outrigger/acceptance/stored"
)

func main() {
	binary := flag.String("binary", "", "the program of the release")
	to := flag.String("to", "", "the folder to store the database in")
	url := flag.String("url", "", "an empty PostgreSQL database; none is SQLite")
	flag.Parse()
	if err := run(context.Background(), *binary, *to, *url); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, to, url string) error {
	dir, err := os.MkdirTemp("", "outrigger-stored-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := stored.NewWorld()
	if err != nil {
		return err
	}
	defer w.Close()
	// The proxy of the settings is not trusted with the credentials of platforms over http.
	if err := os.Setenv("HTTP_PROXY", w.Proxy()); err != nil {
		return err
	}
	p, err := stored.Process(binary, dir, url, w)
	if err != nil {
		return err
	}
	defer p.Kill()
	if _, err := p.Start(ctx); err != nil {
		return err
	}
	secrets, err := stored.Fill(ctx, p, w)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, p.Log())
	}
	inventory, err := stored.Take(ctx, p)
	if err != nil {
		return err
	}
	if _, err := p.Stop(); err != nil {
		return err
	}
	var database []byte
	if url == "" {
		database, err = os.ReadFile(filepath.Join(dir, "outrigger.db"))
	} else {
		database, err = exec.CommandContext(ctx, "pg_dump", "--inserts", "--no-owner", url).Output()
	}
	if err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			err = fmt.Errorf("%w: %s", err, ended.Stderr)
		}
		return err
	}
	return stored.Save(to, database, stored.Details{Made: time.Now().UTC(), Secrets: *secrets, Inventory: inventory})
}
