package console

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"
)

// Tone is how something stands; it picks a colour, never the only sign of it.
type Tone string

const (
	Good  Tone = "good"  // delivered, enabled, active
	Busy  Tone = "busy"  // waiting, sending, running
	Warn  Tone = "warn"  // works, but should be looked at
	Bad   Tone = "bad"   // failed, broken
	Quiet Tone = "quiet" // disabled, cancelled, none
)

func (t Tone) known() bool {
	switch t {
	case Good, Busy, Warn, Bad, Quiet:
		return true
	}
	return false
}

// Badge is a state in a word.
type Badge struct {
	Tone Tone
	Text string
}

// Table heads a list. A column named "" is that of the row's actions, "select" in a
// list that of the boxes to tick. In front of a name, "#" makes its figures stand
// right, "+" is of a column that is shown where there is much room, and "-" of one that
// goes while a detail is beside the list; their cells have the class roomy or spare.
type Table struct {
	Caption string // read to screen readers, who meet the table out of context
	Columns []Column
}

// Column is a column's head.
type Column struct {
	Label  string
	Figure bool
	Roomy  bool
	Spare  bool
}

// Empty is what stands where a list would be: what would be here, and what to
// do next.
type Empty struct {
	Title, Text string
	Action      *Action
}

// Pager leads on in a list that has no numbered pages. Paths are below the
// base URL, "" when there is no such page.
type Pager struct{ First, Next string }

// Paged returns the rows of a page, of which it has so many at most, with the pager of the
// list at path. rows has one more where there is a next page, which is that after the place
// of the last row.
func Paged[T, P any](rows []T, most int, path string, first bool, place func(T) P) (page []T, pager Pager) {
	if !first {
		pager.First = path
	}
	if len(rows) > most {
		rows = rows[:most]
		pager.Next = path + Path("?after=%v", place(rows[most-1]))
	}
	return rows, pager
}

// Submit is the end of a form: its button and the way out.
type Submit struct{ Label, Back string }

// Section is a part of a long form that folds. Its template goes before the
// fields, and "end-section" behind them; the page brings the module sections.js.
type Section struct {
	ID, Title string
	Chosen    string // what is chosen in it, said while it is folded
	Open      bool
}

// Switch is a button that turns something on or off at once. It posts
// enabled=true or enabled=false to Action.
type Switch struct {
	Action string
	On     bool
	Label  string // what is turned, for screen readers
}

// CopyText is a value with a button that copies it.
type CopyText struct{ Value, Label string }

// choiceSet is what one group of boxes needs to show itself.
type choiceSet struct {
	Name, Type string
	Options    []Option
}

// funcs are what templates may call. All are functions of their arguments and
// the console's registration, never of the request.
func (c *Console) funcs() template.FuncMap {
	return template.FuncMap{
		"link": c.link,
		"path": Path,
		"asset": func(name string) (string, error) {
			path, err := c.assets.url(name)
			return c.base + path, err
		},

		"badge": newBadge,
		"table": newTable,
		"empty": newEmpty,
		"submit": func(label string, back ...string) Submit {
			return Submit{label, cmp.Or(append(back, "")...)}
		},
		"switch": func(action string, on bool, label string) Switch { return Switch{action, on, label} },
		"copy":   func(value, label string) CopyText { return CopyText{value, label} },

		"machine":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"human":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
		"clock":    func(t time.Time) string { return t.UTC().Format("15:04 UTC") },
		"relative": func(t time.Time) string { return relative(t, c.opts.Clock()) },
		"count":    Count,
		"took":     took,

		"options": func(in Input, g Group) choiceSet {
			if in.Kind == "radio" {
				return choiceSet{in.Name, "radio", g.Options}
			}
			return choiceSet{in.Name, "checkbox", g.Options}
		},

		"hint":         func(s string) InputOption { return func(in *Input) { in.Hint = s } },
		"mark":         func(s string) InputOption { return func(in *Input) { in.Mark = s } },
		"placeholder":  func(s string) InputOption { return func(in *Input) { in.Placeholder = s } },
		"autocomplete": func(s string) InputOption { return func(in *Input) { in.Autocomplete = s } },
		"kind":         func(s string) InputOption { return func(in *Input) { in.Type = s } },
		"rows":         func(n int) InputOption { return func(in *Input) { in.Rows = n } },
		"limit":        func(n int) InputOption { return func(in *Input) { in.Max = n } },
		"required":     func() InputOption { return func(in *Input) { in.Required = true } },
		"mono":         func() InputOption { return func(in *Input) { in.Mono = true } },
		"narrow":       func() InputOption { return func(in *Input) { in.Narrow = true } },
		"suggest":      func(list []string) InputOption { return func(in *Input) { in.Suggestions = list } },
		"focus":        func() InputOption { return func(in *Input) { in.Focus = true } },
	}
}

// link is the address of a path below the base URL. args fill the verbs of
// path, whatever is no number escaped so that it stays one segment or one
// query value.
func (c *Console) link(path string, args ...any) string {
	if len(args) == 0 {
		return c.base + path
	}
	for i, arg := range args {
		switch arg.(type) {
		case int, int64:
		default:
			args[i] = escape(fmt.Sprint(arg))
		}
	}
	return c.base + fmt.Sprintf(path, args...)
}

// Path is the path that a template's link makes, without the base URL, for
// what Go code hands to the shell: Path("/projects/%s/rules", key).
func Path(path string, args ...any) string {
	return (&Console{}).link(path, args...)
}

// Query is what follows a path: it writes pairs of names and values, leaving out what is empty.
func Query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

func newBadge(tone Tone, text string) (Badge, error) {
	if !tone.known() {
		return Badge{}, fmt.Errorf("%q is no tone", tone)
	}
	return Badge{tone, text}, nil
}

func newTable(caption string, columns ...string) Table {
	t := Table{Caption: caption}
	for _, label := range columns {
		label, roomy := strings.CutPrefix(label, "+")
		label, spare := strings.CutPrefix(label, "-")
		label, figure := strings.CutPrefix(label, "#")
		t.Columns = append(t.Columns, Column{label, figure, roomy, spare})
	}
	return t
}

// newEmpty takes the path and the label of the next step, or neither.
func newEmpty(title, text string, action ...string) (Empty, error) {
	switch len(action) {
	case 0:
		return Empty{Title: title, Text: text}, nil
	case 2:
		return Empty{title, text, &Action{Label: action[1], Path: action[0]}}, nil
	}
	return Empty{}, fmt.Errorf("empty takes a title, a text, and a path with its label")
}

// escape keeps a string one segment of a path or one value of a query.
func escape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// Count writes an integer with its thousands apart, as people read it.
func Count(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted is a number with what it counts: "1 message", "2,000 messages".
func Counted[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}
