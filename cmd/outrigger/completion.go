package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kong"

	"outrigger/internal/commandline"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c completionCmd) Run(s streams) error {
	script, err := commandline.Script(c.Shell)
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.out, script)
	return err
}

type manCmd struct{}

func (manCmd) Run(s streams, k *kong.Context) error {
	return commandline.Manual(s.out, k.Model, commandline.ManualOptions{
		Date: builtAt(), Version: version, Sections: manualSections(),
	})
}

// manualSections say what holds for all commands.
func manualSections() []commandline.Section {
	return []commandline.Section{
		{Title: "ENVIRONMENT", Text: "OUTRIGGER_SERVER: The server's base URL.\n" +
			"OUTRIGGER_TOKEN: A token to sign in with.\n" +
			"OUTRIGGER_CONFIG: The configuration file.\n" +
			"Every setting is a variable too: mail.listen is OUTRIGGER_MAIL_LISTEN. outrigger config print lists all settings with their " +
			"defaults."},
		{Title: "EXIT STATUS", Text: "0: Done.\n" +
			"1: Failed.\n" +
			"2: Done, with errors to look at; of attention: something needs it; of notify try-branch: the pattern is refused.\n" +
			"64: A mistake in the command line."},
	}
}

// builtAt is the time of the commit that the program was built from, so that the
// same source gives the same manual; without one it is now.
func builtAt() time.Time {
	if at, err := time.Parse(time.RFC3339, date); err == nil {
		return at
	}
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return at
		}
	}
	return time.Now()
}

// answerShell answers what a completion script asks; false where args are none
// of its requests.
func answerShell(s streams, parser *kong.Kong, args []string) (code int, asked bool) {
	if len(args) == 0 || args[0] != commandline.Request {
		return 0, false
	}
	if err := commandline.Answer(s.out, parser.Model, args[1:]); err != nil {
		fmt.Fprintf(s.err, "outrigger: %v\n", err)
		return exitUsage, true
	}
	return exitDone, true
}
