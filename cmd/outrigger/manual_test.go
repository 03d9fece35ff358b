package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The page about commands has what the manual page has. UPDATE_GOLDEN=1 writes it anew.
func TestCommandsPage(t *testing.T) {
	parser, err := newParser(t.Context(), new(commands), streams{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "docs", "commands.md")
	got := commandsPage(parser.Model)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not what the command line says; run with UPDATE_GOLDEN=1 if that is meant", file)
	}
}

func commandsPage(model *kong.Application) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n`--help` behind a command shows its help, `outrigger man` prints all of it as a manual page. `-` is standard input or output where a file is meant.\n")
	titles := map[string]string{"ENVIRONMENT": "Environment", "EXIT STATUS": "Exit codes"}
	for _, s := range manualSections() {
		fmt.Fprintf(&b, "\n## %s\n\n", titles[s.Title])
		for line := range strings.Lines(s.Text) {
			line = strings.TrimSpace(line)
			if term, text, is := strings.Cut(line, ": "); is && !strings.Contains(term, " ") {
				fmt.Fprintf(&b, "- `%s`: %s\n", term, text)
			} else {
				fmt.Fprintf(&b, "\n%s\n", line)
			}
		}
	}
	common := commonFlags(model)
	b.WriteString("\n## Flags of many commands\n\n")
	writeFlags(&b, common)
	for _, top := range model.Children {
		if top.Hidden {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", top.Name, asText(top.Help))
		for _, leaf := range leaves(top) {
			writeCommand(&b, leaf, common, leaf != top)
		}
	}
	return b.String()
}

// leaves lists the commands at the ends of the branches below n, which may be n.
func leaves(n *kong.Node) (all []*kong.Node) {
	if n.Leaf() {
		return []*kong.Node{n}
	}
	for _, child := range n.Children {
		if !child.Hidden {
			all = append(all, leaves(child)...)
		}
	}
	return all
}

// flagsOf lists the flags of a command and of those above it, but for the one for help.
func flagsOf(n *kong.Node) (flags []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if f.Name != "help" && f.Name != "version" {
				flags = append(flags, f)
			}
		}
	}
	return flags
}

// commonFlags are those that many commands have, in the same words.
func commonFlags(model *kong.Application) (common []*kong.Flag) {
	const many = 8
	count := map[string]int{}
	for _, leaf := range leaves(model.Node) {
		for _, f := range flagsOf(leaf) {
			if count[f.Name+f.Help]++; count[f.Name+f.Help] == many {
				common = append(common, f)
			}
		}
	}
	return common
}

func writeFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		name := "--" + f.Name
		if !f.IsBool() && !f.IsCounter() {
			name += " " + f.FormatPlaceHolder()
		}
		fmt.Fprintf(b, "- `%s`: %s", name, asText(f.Help))
		for _, env := range f.Envs {
			fmt.Fprintf(b, " Environment: `%s`.", env)
		}
		b.WriteString("\n")
	}
}

// writeCommand writes a command with its arguments and flags, and with a heading
// where it has none yet.
func writeCommand(b *strings.Builder, n *kong.Node, common []*kong.Flag, headed bool) {
	if headed {
		fmt.Fprintf(b, "\n### %s\n\n%s\n", strings.TrimPrefix(n.FullPath(), "outrigger "), asText(n.Help))
	}
	usage := n.Summary()
	if n.Parent.DefaultCmd == n { // its name can be left out
		usage = strings.Replace(usage, n.Parent.Name+" "+n.Name, n.Parent.Name, 1)
	}
	fmt.Fprintf(b, "\n```text\noutrigger %s\n```\n\n", usage)
	for _, p := range n.Positional {
		fmt.Fprintf(b, "- `%s`: %s\n", strings.ToUpper(p.Name), asText(p.Help))
	}
	var own []*kong.Flag
	var also []string
	for _, f := range flagsOf(n) {
		if slices.ContainsFunc(common, func(c *kong.Flag) bool { return c.Name == f.Name && c.Help == f.Help }) {
			also = append(also, "`--"+f.Name+"`")
		} else {
			own = append(own, f)
		}
	}
	writeFlags(b, own)
	if len(also) > 0 {
		fmt.Fprintf(b, "- also %s\n", strings.Join(also, ", "))
	}
}

// asText has a sentence stand in Markdown as it is.
func asText(s string) string {
	return strings.NewReplacer("*", `\*`, "<", `\<`, "_", `\_`).Replace(s)
}

// What a command takes for a channel or a user, its help says: also a channel's id, and users
// of platforms and providers.
func TestHelpSaysHowToName(t *testing.T) {
	parser, err := newParser(t.Context(), new(commands), streams{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for _, leaf := range parser.Model.Leaves(true) {
		path := leaf.Path()
		for _, arg := range leaf.Positional {
			want := map[string]string{"channel": "name, id or fingerprint"}[arg.Name]
			if strings.HasPrefix(path, "users ") && arg.Name == "name" && leaf.Name != "add" && leaf.Name != "password" {
				want = "oidc:ann"
			}
			if want != "" {
				said[arg.Name]++
			}
			if !strings.Contains(arg.Help, want) {
				t.Errorf("%s: the help of %s is %q, without %q", path, arg.Name, arg.Help, want)
			}
		}
	}
	if said["channel"] != 3 || said["name"] != 7 {
		t.Errorf("looked at %v", said)
	}
}
