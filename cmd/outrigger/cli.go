package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"outrigger/internal/fault"
	"outrigger/internal/phrase"
)

// Exit codes. Scripts rely on them.
const (
	exitDone   = 0
	exitFailed = 1
	exitLook   = 2  // done, with errors to look at; attention: something needs it; try-branch: the pattern is invalid
	exitUsage  = 64 // EX_USAGE of sysexits.h
)

// commands is the command line.
type commands struct {
	serving
	Demo       demoCmd       `cmd:"" help:"Try everything on localhost, with sample data in a temporary folder."`
	Config     configCmd     `cmd:"" help:"Check a configuration file, or print every setting."`
	Users      usersCmd      `cmd:"" help:"Manage users and their permissions."`
	Groups     groupsCmd     `cmd:"" help:"Manage the permissions of groups of single sign-on."`
	Tokens     tokensCmd     `cmd:"" help:"Manage access tokens."`
	Nodes      nodesCmd      `cmd:"" help:"List, drain, resume and remove nodes; move their mail."`
	Notify     notifyCmd     `cmd:"" help:"Chat notifications: events, deliveries, channels and reports; test branch masks and webhooks."`
	Mail       mailCmd       `cmd:"" help:"The outgoing mail queue: its status and its messages."`
	Threads    threadsCmd    `cmd:"" help:"Threaded comments: export, migrate, verify, back up and restore."`
	Attention  attentionCmd  `cmd:"" help:"List what needs attention, as the overview does. The exit code is 2 if anything does, else 0."`
	Monitoring monitoringCmd `cmd:"" help:"Alert rules for Prometheus and a dashboard for Grafana, made for this version."`
	Audit      auditCmd      `cmd:"" help:"Read the audit trail."`
	Backup     backupCmd     `cmd:"" help:"Back up the database of a running server (SQLite)."`
	Restore    restoreCmd    `cmd:"" help:"Replace the database of a stopped server with a backup, or mark one that another tool restored."`
	Secrets    secretsCmd    `cmd:"" help:"Change the encryption key, or go on without a lost one."`
	Version    versionCmd    `cmd:"" help:"Print the version."`

	Healthcheck healthcheckCmd `cmd:"" help:"Ask the server on this machine whether it answers."`
	Licenses    licensesCmd    `cmd:"" help:"Print the licences of everything that is built into the program."`

	Completion completionCmd `cmd:"" help:"Print a script that completes commands in bash, zsh or fish."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
}

// serving is the part of commands that "outrigger serve" is read with: a model of
// all commands takes 10 MiB of allocations, most of what a start of the server does.
type serving struct {
	Serve serveCmd `cmd:"" help:"Run the server."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// grammar returns what args are parsed by.
func grammar(args []string) any {
	if len(args) > 0 && args[0] == "serve" {
		return new(serving)
	}
	return new(commands)
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
	command, code := parse(ctx, args, s)
	if command == nil {
		return code
	}
	return report(s, command())
}

// parse finds the command that the arguments mean; nil where all is said, with
// the exit code.
func parse(ctx context.Context, args []string, s streams) (command func() error, code int) {
	helped := false
	parser, err := newParser(ctx, grammar(args), s, func(int) { helped = true })
	if err != nil {
		return nil, report(s, err)
	}
	if code, asked := answerShell(s, parser, args); asked {
		return nil, code
	}
	args = asksForHelp(args)
	noCommand := len(args) == 0
	if noCommand {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	switch {
	case noCommand:
		return nil, exitUsage
	case helped:
		return nil, exitDone
	case err != nil:
		fmt.Fprintf(s.err, "outrigger: %s\nTry %s --help.\n", mistake(err), commandOf(err))
		return nil, exitUsage
	}
	if serve, ok := parsed.Selected().Target.Interface().(serveCmd); ok {
		// Not by parsed, which holds a model of all commands, 1 MiB, for as long
		// as the server runs.
		return func() error { return serve.Run(ctx, s) }, exitDone
	}
	return func() error { return parsed.Run() }, exitDone
}

// newParser makes the parser of grammar. It calls exit where help was shown.
func newParser(ctx context.Context, grammar any, s streams, exit func(int)) (*kong.Kong, error) {
	parser, err := kong.New(grammar,
		kong.Name("outrigger"),
		kong.Description("Three services beside a self-hosted issue tracker or code-hosting platform: chat notifications for Microsoft Teams "+
			"and Slack, a durable queue for outgoing mail with its status on every node, and the migration of threaded comments to a cloud "+
			"site. A running server has the documentation at /docs/."),
		kong.Writers(s.out, s.err),
		kong.Exit(exit),
		kong.Vars{"version": versionText()}, words(),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err == nil {
		parser.Model.HelpFlag.Help = "Show this help."
		explainCommands(parser.Model)
	}
	return parser, err
}

// commandOf is the command, as far as it was understood, that the arguments were
// wrong for.
func commandOf(err error) string {
	name := "outrigger"
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		for _, part := range wrong.Context.Path {
			if part.Command != nil {
				name += " " + part.Command.Name
			}
		}
	}
	return name
}

// report says what went wrong, a line each, and returns the exit code.
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
		fmt.Fprintf(s.err, "outrigger: %s\n", phrase.Line(strings.TrimSuffix(line, "\n")))
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
