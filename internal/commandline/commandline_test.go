package commandline

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// sample is a command line with each kind of word.
type sample struct {
	Serve struct {
		Config  string `help:"The configuration file." placeholder:"FILE"`
		Verbose bool   `short:"v" help:"Say more."`
		Level   string `enum:"low,high" default:"low" help:"How much."`
		Secret  string `hidden:""`
	} `cmd:"" help:"Run it. For ever."`
	Users struct {
		Add struct {
			Name string `arg:"" help:"The name."`
			Role string `arg:"" enum:"reader,writer" help:"What it may do."`
		} `cmd:"" help:"Add one."`
		List struct{} `cmd:"" aliases:"ls" help:"List them."`
	} `cmd:"" help:"Users."`
	Backup struct {
		Make struct {
			Quick bool   `help:"Hurry."`
			File  string `arg:"" help:"The file."`
		} `cmd:"" default:"withargs" help:"Make one."`
		Confirm struct{} `cmd:"" help:"Confirm it."`
	} `cmd:"" help:"Backups."`
	Inside struct{} `cmd:"" hidden:""`
}

func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := kong.New(new(sample), kong.Name("sample"), kong.Description(`.Begins like a macro, has a \ and a - in it. Second sentence.`))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "serve users backup",
		"s":                        "serve",
		"x":                        "",
		"ins":                      "",
		"users ":                   "add list",
		"users l":                  "list",
		"users ls ":                "",
		"users add ":               "",
		"users add ann ":           "reader writer",
		"users add ann w":          "writer",
		"users add -- ann w":       "writer",
		"users add ann writer ":    "",
		"serve -":                  "--help --config --verbose --level",
		"serve --l":                "--level",
		"serve --level ":           "low high",
		"serve --level h":          "high",
		"serve --level=":           "--level=low --level=high",
		"serve --level=h":          "--level=high",
		"serve --level high --ver": "--verbose",
		"serve -v --c":             "--config",
		"serve --config ":          "FILES",
		"serve --config=x":         "FILES",
		"serve --nonsense=x":       "",
		"serve -- --l":             "",
		"backup ":                  "make confirm FILES",
		"backup --q":               "--quick",
		"backup make ":             "FILES",
		"backup monday.db ":        "",
	} {
		c := complete(model(t), strings.Split(line, " "))
		var got []string
		for _, candidate := range c.Candidates {
			got = append(got, candidate.Value)
		}
		if c.Files {
			got = append(got, "FILES")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if c := complete(model(t), nil); len(c.Candidates) != 3 {
		t.Errorf("without a word: %v", c)
	}
}

// Only shells that show help are given it, the names of files are left to them.
func TestAnswer(t *testing.T) {
	for want, args := range map[string][]string{
		"serve\n":                    {"bash", "se"},
		"serve\tRun it. For ever.\n": {"zsh", "se"},
		":files\n":                   {"fish", "serve", "--config", ""},
	} {
		var out strings.Builder
		if err := Answer(&out, model(t), args); err != nil || out.String() != want {
			t.Errorf("%v: %q, %v", args, out.String(), err)
		}
	}
	if err := Answer(new(strings.Builder), model(t), nil); err == nil {
		t.Error("a request of no shell is answered")
	}
}

func TestScripts(t *testing.T) {
	for shell := range strings.SplitSeq(shells, ",") {
		if script, err := Script(shell); err != nil || !strings.Contains(script, Request) || !strings.Contains(script, filesLine) {
			t.Errorf("%s: %v, %s", shell, err, script)
		}
	}
	if _, err := Script("tcsh"); err == nil {
		t.Error("there is a script for tcsh")
	}
}

func TestManual(t *testing.T) {
	var out strings.Builder
	err := Manual(&out, model(t), ManualOptions{
		Date: time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC), Version: "v1.2.3",
		Sections: []Section{{"EXIT STATUS", "0: Done.\n1: Failed.\nNothing else is possible."}},
	})
	if err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{
		".Dd March 1, 2026\n.Dt SAMPLE 1\n.Os\n",
		".Sh DESCRIPTION\n\\&.Begins like a macro, has a \\e and a \\- in it.\nSecond sentence.\nThis is the manual of version v1.2.3.\n",
		".Ss \"serve\"\n.Nm \"sample serve\"\n.Pp\nRun it.\nFor ever.\n.Bl -tag -width Ds\n.It Fl \\-config Ar FILE\nThe configuration file.\n.It Fl v , Fl \\-verbose\nSay more.\n",
		".Nm \"sample users add\"\n.Ar NAME\n.Ar ROLE\n",
		".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nDone.\n.It 1\nFailed.\n.El\nNothing else is possible.\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
	for _, hidden := range []string{"inside", "secret", `\-help`} {
		if strings.Contains(page, hidden) {
			t.Errorf("the page has %q", hidden)
		}
	}
	for line := range strings.Lines(page) {
		if len(line) > 81 {
			t.Errorf("a line is long: %s", line)
		}
	}
}
