package main

import "regexp"

// asksForHelp turns "help users grant" into "users grant --help", as people type
// it for other programs.
func asksForHelp(args []string) []string {
	if len(args) == 0 || args[0] != "help" {
		return args
	}
	return append(args[1:len(args):len(args)], "--help")
}

// plainer are messages of the parser of arguments that speak of its types and
// tokens, with what is said in their place.
var plainer = []struct {
	said  *regexp.Regexp
	plain string
}{
	// A flag that may be left out has "" among its values, which is nothing that
	// people type.
	{regexp.MustCompile(`must be one of "",`), `must be one of `},
	{regexp.MustCompile(`^expected "(<[^" ]*>(?: \.\.\.)?)"$`), `$1 is missing`},
	{regexp.MustCompile(`^expected "(<[^"]*)"$`), `$1 are missing`},
	{regexp.MustCompile(`^expected one of (.*)$`), `a command is missing: $1`},
	{regexp.MustCompile(`^(\S+): expected \S+ value but got "EOL" \(<EOL>\)$`), `$1: the value is missing`},
	{regexp.MustCompile(`^(\S+): expected (?:a valid \d+ bit u?int|an int) but got ("[^"]*").*$`), `$1: $2 is not a whole number`},
}

// mistake says what is wrong with the arguments.
func mistake(err error) string {
	text := err.Error()
	for _, p := range plainer {
		text = p.said.ReplaceAllString(text, p.plain)
	}
	return text
}
