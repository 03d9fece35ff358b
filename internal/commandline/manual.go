package commandline

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// ManualOptions say what stands in the manual besides the commands.
type ManualOptions struct {
	Date     time.Time
	Version  string
	Sections []Section // behind the commands
}

// Section is one of the manual: its lines are a list where they begin with a
// term and a colon, else sentences.
type Section struct{ Title, Text string }

// Manual writes the manual page of the program, section 1, in mdoc(7).
func Manual(out io.Writer, model *kong.Application, o ManualOptions) error {
	m := &manual{}
	name := model.Name
	m.line("Dd", o.Date.UTC().Format("January 2, 2006"))
	m.line("Dt", strings.ToUpper(name), "1")
	m.line("Os")
	m.line("Sh", "NAME")
	m.line("Nm", name)
	m.line("Nd", "chat notifications, a mail queue and comment migration")
	m.line("Sh", "SYNOPSIS")
	m.line("Nm", name)
	m.line("Ar", "command")
	m.line("Op", "Ar argument ...")
	m.line("Op", "Fl \\-flag")
	m.line("Sh", "DESCRIPTION")
	m.text(model.Help + " This is the manual of version " + o.Version + ".")
	m.line("Sh", "COMMANDS")
	for _, leaf := range model.Leaves(true) {
		m.command(leaf)
	}
	for _, s := range o.Sections {
		m.section(s)
	}
	_, err := m.WriteTo(out)
	return err
}

type manual struct{ bytes.Buffer }

// line writes a macro with its arguments.
func (m *manual) line(macro string, args ...string) {
	fmt.Fprintln(m, strings.TrimSpace("."+macro+" "+strings.Join(args, " ")))
}

func (m *manual) command(leaf *kong.Node) {
	m.line("Ss", quoted(strings.TrimSuffix(path(leaf), " ")))
	m.line("Nm", quoted(root(leaf).Name+" "+path(leaf)))
	for _, p := range leaf.Positional {
		name := strings.ToUpper(p.Name)
		if p.IsSlice() {
			name += " ..."
		}
		if p.Required {
			m.line("Ar", escaped(name))
		} else {
			m.line("Op", "Ar "+escaped(name))
		}
	}
	m.line("Pp")
	m.text(leaf.Help)
	values := len(leaf.Positional)
	flags := flagsOf(leaf)
	if values+len(flags) > 0 {
		m.line("Bl", "-tag -width Ds")
		for _, p := range leaf.Positional {
			m.line("It", "Ar "+escaped(strings.ToUpper(p.Name)))
			m.text(p.Help)
		}
		for _, f := range flags {
			m.flag(f)
		}
		m.line("El")
	}
	m.examples(leaf.Detail)
}

func (m *manual) flag(f *kong.Flag) {
	item := "Fl \\-" + escaped(f.Name)
	if f.Short != 0 {
		item = "Fl " + string(f.Short) + " , " + item
	}
	if !f.IsBool() && !f.IsCounter() {
		item += " Ar " + escaped(f.FormatPlaceHolder())
	}
	m.line("It", item)
	m.text(f.Help)
	for _, env := range f.Envs {
		m.text("Environment: " + env + ".")
	}
}

// examples are the lines of a command's detail that are indented.
func (m *manual) examples(detail string) {
	var lines []string
	for line := range strings.Lines(detail) {
		if strings.HasPrefix(line, "    ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) == 0 {
		return
	}
	m.line("Bd", "-literal -offset indent")
	for _, line := range lines {
		m.raw(line)
	}
	m.line("Ed")
}

func (m *manual) section(s Section) {
	m.line("Sh", s.Title)
	listing := false
	for line := range strings.Lines(s.Text) {
		term, text, is := strings.Cut(strings.TrimSpace(line), ": ")
		is = is && !strings.Contains(term, " ")
		switch {
		case is && !listing:
			m.line("Bl", "-tag -width Ds")
		case !is && listing:
			m.line("El")
		}
		if listing = is; is {
			m.line("It", escaped(term))
			m.text(text)
		} else {
			m.text(strings.TrimSpace(line))
		}
	}
	if listing {
		m.line("El")
	}
}

// sentenceEnd is where a new line begins: mdoc puts the space between sentences.
var sentenceEnd = regexp.MustCompile(`([.?!]) +([A-Z])`)

// lineWidth leaves room for what escapes add: lines of a page have 80 bytes.
const lineWidth = 66

func (m *manual) text(text string) {
	for line := range strings.Lines(sentenceEnd.ReplaceAllString(text, "$1\n$2")) {
		var row []string
		width := 0
		for _, word := range strings.Fields(line) {
			if width += len(word) + 1; width > lineWidth && len(row) > 0 {
				m.raw(strings.Join(row, " "))
				row, width = nil, len(word)+1
			}
			row = append(row, word)
		}
		if len(row) > 0 {
			m.raw(strings.Join(row, " "))
		}
	}
}

// raw writes a line that is no macro, whatever it begins with.
func (m *manual) raw(line string) {
	line = escaped(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	fmt.Fprintln(m, line)
}

// typed writes quotes, dashes and ellipses of texts as roff names them, and
// keeps what a reader copies as it is.
var typed = strings.NewReplacer(`\`, `\e`, "-", `\-`, "“", `\(lq`, "”", `\(rq`, "…", "...", "’", `\(cq`, "–", `\(en`, "›", ">")

func escaped(s string) string { return typed.Replace(s) }

func quoted(s string) string { return `"` + strings.ReplaceAll(escaped(s), `"`, `\(dq`) + `"` }

func path(n *kong.Node) string {
	if n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(path(n.Parent) + " " + n.Name)
}

func root(n *kong.Node) *kong.Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// flagsOf lists the flags of a command and of those above it, but for the one
// for help.
func flagsOf(n *kong.Node) (flags []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if f.Name != "help" {
				flags = append(flags, f)
			}
		}
	}
	return flags
}
