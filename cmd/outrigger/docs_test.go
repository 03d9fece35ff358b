package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every command line of ours in the documentation is one that the program takes. In
// a sentence, the name of a command without its arguments will do.
func TestCommandsInTheDocumentation(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	inBlocks, inSentences := 0, 0
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		session := "" // what a reader types, from the first block of a page to the last
		for _, block := range codeBlock.FindAllStringSubmatch(string(text), -1) {
			if block[1] == "" || block[1] == "sh" {
				session += block[2]
			}
		}
		for _, args := range commandLines(session) {
			inBlocks++
			if err := understood(t, args); err != "" {
				t.Errorf("%s: outrigger %s: %s", file, strings.Join(args, " "), err)
			}
		}
		for _, span := range commandSpan.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
			for _, args := range commandLines(number.ReplaceAllString(span[1], "${1}1")) {
				inSentences++
				if err := understood(t, args); err != "" {
					if err := understood(t, append(args, "--help")); err != "" {
						t.Errorf("%s: `%s`: %s", file, span[1], err)
					}
				}
			}
		}
	}
	if inBlocks < 30 || inSentences < 50 {
		t.Errorf("only %d command lines and %d commands in sentences were found", inBlocks, inSentences)
	}
}

var (
	codeBlock   = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")
	commandSpan = regexp.MustCompile("`(outrigger [^`\n]+)`")
	number      = regexp.MustCompile(`([ =])(?:ID|N)\b`) // what stands for one
	assignment  = regexp.MustCompile(`^(\w+)="([^"$]*)"$`)
)

// understood says what is wrong with a command line; nothing is run.
func understood(t *testing.T, args []string) string {
	t.Helper()
	var said strings.Builder
	if _, code := parse(t.Context(), args, streams{strings.NewReader(""), io.Discard, &said}); code != exitDone {
		return said.String()
	}
	return ""
}

// commandLines finds the command lines of outrigger in a text of a shell, without
// the program's name. It knows quotes, comments, variables that the text itself sets,
// and what ends a command.
func commandLines(text string) (all [][]string) {
	vars := strings.NewReplacer()
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if set := assignment.FindStringSubmatch(line); set != nil {
			vars = strings.NewReplacer("$"+set[1], set[2])
			continue
		}
		for _, words := range shellWords(vars.Replace(line)) {
			if len(words) > 0 && words[0] == "sudo" {
				words = words[1:]
			}
			if len(words) > 1 && words[0] == "-u" {
				words = words[2:] // who it runs as
			}
			if len(words) > 0 && words[0] == "outrigger" {
				all = append(all, words[1:])
			}
		}
	}
	return all
}

// shellWords splits a line into commands and those into words. What follows > is no
// word of the command.
func shellWords(line string) (commands [][]string) {
	var words []string
	var word strings.Builder
	begun, redirected := false, false
	var quote rune
	end := func() {
		if begun && !redirected {
			words = append(words, word.String())
		}
		if begun {
			redirected = false
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			end()
		case r == '>':
			end()
			redirected = true
		case r == '|' || r == '&' || r == ';':
			end()
			commands, words, redirected = append(commands, words), nil, false
		case r == '#' && !begun:
			return append(commands, words)
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	end()
	return append(commands, words)
}

func TestCommandLines(t *testing.T) {
	for text, want := range map[string]string{
		"outrigger version":                                        "version",
		"sudo outrigger version | cat":                             "version",
		"sudo -u outrigger outrigger version":                      "version",
		"a && outrigger b 'c d' > e # f":                           "b,c d",
		"outrigger a \\\n  --b \"c\"":                              "a,--b,c",
		"x=1\nfiles=\"--a b\"\noutrigger c $files":                 "c,--a,b",
		"outrigger a >b c":                                         "a,c",
		"echo outrigger a":                                         "",
		"outrigger a\noutrigger b":                                 "a b",
		"curl https://example.com/#outrigger; outrigger backup - ": "backup,-",
	} {
		var got []string
		for _, args := range commandLines(text) {
			got = append(got, strings.Join(args, ","))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
