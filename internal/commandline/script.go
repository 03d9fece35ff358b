package commandline

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// shells lists the shells that there is a script for.
const shells = "bash,zsh,fish"

// Request is the word by which the scripts ask the program: behind it comes the
// shell, and the words of the command line up to the cursor.
const Request = "__complete"

// filesLine stands for the names of files, which the shell completes itself.
const filesLine = ":files"

//go:embed scripts
var scripts embed.FS

// Script returns the script that has a shell complete the program's command line.
func Script(shell string) (string, error) {
	text, err := scripts.ReadFile("scripts/" + shell)
	if err != nil {
		return "", fmt.Errorf("there is no script for %s; give one of %s", shell, shells)
	}
	return string(text), nil
}

// Answer answers a request of a script: a line for each candidate, with its help
// behind a tab where the shell shows it.
func Answer(out io.Writer, model *kong.Application, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs the name of a shell", Request)
	}
	c := complete(model, args[1:])
	var b strings.Builder
	for _, candidate := range c.Candidates {
		b.WriteString(candidate.Value)
		if help, _, _ := strings.Cut(candidate.Help, "\n"); args[0] != "bash" {
			b.WriteString("\t" + help)
		}
		b.WriteString("\n")
	}
	if c.Files {
		b.WriteString(filesLine + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
