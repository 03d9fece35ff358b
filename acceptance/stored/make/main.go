// Command make fills a database with a program and stores it with what the program said
// about it. scripts/store-databases.sh calls it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"outrigger/acceptance/stored"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground"
)

func main() {
	binary := flag.String("binary", "", "the program of the release")
	to := flag.String("to", "", "the folder to store the database in")
	url := flag.String("url", "", "an empty PostgreSQL database; none is SQLite")
	flag.Parse()
	run(context.Background(), *binary, *to, *url)
}

// check ends the program where there is an error: with a panic, so that what was begun
// is ended, too.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// must is check of a function that returns a value.
func must[T any](v T, err error) T {
	check(err)
	return v
}

func run(ctx context.Context, binary, to, url string) {
	dir := must(os.MkdirTemp("", "outrigger-stored-"))
	defer os.RemoveAll(dir)
	w := must(stored.NewWorld())
	defer w.Close()
	// The proxy of the settings is not trusted with the credentials of platforms over http.
	check(os.Setenv("HTTP_PROXY", w.Proxy()))
	p := must(stored.Process(binary, dir, url, w))
	saved := false
	defer func() {
		p.Kill()
		if !saved {
			fmt.Fprintln(os.Stderr, p.Log())
		}
	}()
	must(p.Start(ctx))
	f := &filler{p: p, w: w, s: stored.Secrets{Passwords: map[string]string{}, Tokens: map[string]string{}}}
	f.fill(ctx)
	inventory := must(stored.Take(ctx, p))
	must(p.Stop())
	var database []byte
	if url == "" {
		database = must(os.ReadFile(filepath.Join(dir, "outrigger.db")))
	} else {
		dump := exec.CommandContext(ctx, "pg_dump", "--inserts", "--no-owner", url)
		dump.Stderr = os.Stderr
		database = must(dump.Output())
	}
	check(stored.Save(to, database, stored.Details{Made: time.Now().UTC(), Secrets: f.s, Inventory: inventory}))
	saved = true
}

// filler drives a running program as people and platforms do.
type filler struct {
	p        *loadtest.Process
	w        *stored.World
	s        stored.Secrets
	platform *playground.Platform
}

// fill has a running program, new and with this world as the proxy of its
// environment, store several of everything. In the end the settings name a proxy that
// is not there, and messages and mail wait.
func (f *filler) fill(ctx context.Context) {
	f.users(ctx)
	f.notifications(ctx)
	f.cloudPlatform(ctx)
	f.threads(ctx)
	f.mail(ctx)
	f.waiting(ctx)
}

type object = map[string]any

func (f *filler) post(ctx context.Context, path string, body, into any) {
	check(f.p.Ask(ctx, "POST", path, body, into))
}

// patience bounds waiting for what the program does by itself.
const patience = 2 * time.Minute

// await waits until holds says true.
func await(what string, holds func() bool) {
	for began := time.Now(); !holds(); <-time.After(100 * time.Millisecond) {
		if time.Since(began) > patience {
			check(fmt.Errorf("after %s: %s", patience, what))
		}
	}
}
