package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"outrigger/internal/fault"
)

// Exit codes. Scripts rely on them.
const (
	exitDone   = 0
	exitFailed = 1
	exitLook   = 2  // done, with errors to look at; for try-branch: the pattern is refused
	exitUsage  = 64 // EX_USAGE of sysexits.h
)

// commands is the command line.
type commands struct {
	Serve   serveCmd   `cmd:"" help:"Run the server."`
	Demo    demoCmd    `cmd:"" help:"Run the whole product on localhost, in a temporary folder."`
	Config  configCmd  `cmd:"" help:"Check a configuration file, or print every setting."`
	Users   usersCmd   `cmd:"" help:"Users and what they may do."`
	Tokens  tokensCmd  `cmd:"" help:"Tokens of users."`
	Nodes   nodesCmd   `cmd:"" help:"Nodes, their states and their mail."`
	Notify  notifyCmd  `cmd:"" help:"Deliveries and channels; try branch masks and webhooks."`
	Mail    mailCmd    `cmd:"" help:"Messages of the relay."`
	Threads threadsCmd `cmd:"" help:"Threaded comment migration, from either side."`
	Audit   auditCmd   `cmd:"" help:"Who changed what."`
	Backup  backupCmd  `cmd:"" help:"Copy the whole database while the server runs."`
	Restore restoreCmd `cmd:"" help:"Put a backup in the place of the database of a stopped server."`
	Secrets secretsCmd `cmd:"" help:"The key that encrypts what is stored: change it, or live on without it."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// coded is an error with an exit code of its own. Its message may be empty:
// then everything was said.
type coded struct {
	code int
	error
}

func (c coded) Unwrap() error { return c.error }

// run takes the arguments to their command and gives the exit code.
func run(ctx context.Context, args []string, s streams) int {
	helped := false
	parser, err := kong.New(new(commands),
		kong.Name("outrigger"),
		kong.Description("Stands beside an issue tracker or a code-hosting platform: its events go into chat channels, its mail through a durable queue whose status is known, and threads of comments move with a migration."),
		kong.Writers(s.out, s.err),
		kong.Exit(func(int) { helped = true }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		return report(s, err)
	}
	noCommand := len(args) == 0
	if noCommand {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	switch {
	case noCommand:
		return exitUsage
	case helped:
		return exitDone
	case err != nil:
		fmt.Fprintf(s.err, "outrigger: %v\nTry outrigger --help.\n", err)
		return exitUsage
	}
	return report(s, parsed.Run())
}

// report says what went wrong, a line each, and gives the exit code.
func report(s streams, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitFailed
	var own coded
	if errors.As(err, &own) {
		code = own.code
		if own.error == nil {
			return code
		}
	}
	for line := range strings.Lines(explain(err)) {
		fmt.Fprintf(s.err, "outrigger: %s\n", strings.TrimSuffix(line, "\n"))
	}
	return code
}

// explain is the text of an error, a line for each member that is wrong.
func explain(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) == 0 {
		return err.Error()
	}
	var lines []string
	for _, field := range f.Fields {
		lines = append(lines, field.Name+": "+field.Message)
	}
	return strings.Join(lines, "\n")
}
