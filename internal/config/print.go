package config

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"outrigger/internal/secret"
)

// Print writes every setting with its sentence, its default and its
// environment variable, as a configuration file that changes nothing.
func Print(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, `# Every setting of Outrigger with its default. A key without a value has none.
#
# Environment variables override this file; flags override both. In variables
# and flags, lists are separated by commas; OUTRIGGER_…_FILE names a file that
# holds a secret. Durations are written as 90s, 10m, 12h or 7d.
`)
	printSettings(out, members(reflect.ValueOf(Default()).Elem(), ""), "")
	return out.Flush()
}

func printSettings(out io.Writer, list []setting, indent string) {
	for _, s := range list {
		if s.group() {
			fmt.Fprintf(out, "\n%s%s:", indent, s.name)
			printSettings(out, members(s.field, s.key+"."), indent+"  ")
			continue
		}
		fmt.Fprintln(out)
		for _, line := range wrap(s.doc+s.defaultDoc(), 78-len(indent)) {
			fmt.Fprintf(out, "%s# %s\n", indent, line)
		}
		if name := s.env(); name != "" {
			fmt.Fprintf(out, "%s# %s\n", indent, name)
		}
		printKey(out, s, indent)
		if s.objects() {
			printItem(out, s, indent+"# ")
		}
	}
}

func printKey(out io.Writer, s setting, indent string) {
	switch {
	case s.list() && s.def != "":
		fmt.Fprintf(out, "%s%s: [\"%s\"]\n", indent, s.name, strings.ReplaceAll(s.def, ",", `", "`))
	case s.list():
		fmt.Fprintf(out, "%s%s: []\n", indent, s.name)
	case s.def != "":
		fmt.Fprintf(out, "%s%s: %s\n", indent, s.name, s.def)
	default:
		fmt.Fprintf(out, "%s%s:\n", indent, s.name)
	}
	if s.secret() {
		fmt.Fprintf(out, "%s%s: # or the path of a file that holds it\n", indent, s.name+fileSuffix)
	}
}

// printItem shows, as comments, what an item of a list of objects has.
func printItem(out io.Writer, s setting, indent string) {
	printParts(out, members(reflect.New(s.field.Type().Elem()).Elem(), ""), indent, "- ")
}

// printParts shows settings of an item; dash stands before the first of them.
func printParts(out io.Writer, list []setting, indent, dash string) {
	for _, m := range list {
		if m.group() {
			fmt.Fprintf(out, "%s%s%s:\n", indent, dash, m.name)
			dash = "  "
			printParts(out, members(m.field, ""), indent+"  ", "  ")
			continue
		}
		for _, line := range wrap(m.doc+m.defaultDoc(), 74-len(indent)) {
			fmt.Fprintf(out, "%s%s# %s\n", indent, dash, line)
			dash = "  "
		}
		printKey(out, m, indent+"  ")
	}
}

// defaultDoc is the sentence about the default, after a space.
func (s setting) defaultDoc() string {
	switch {
	case s.list() && s.def != "":
		return " Defaults to " + strings.ReplaceAll(s.def, ",", ", ") + "."
	case s.def != "":
		return " Defaults to " + s.def + "."
	case s.elseDoc != "":
		return " Defaults to " + s.elseDoc + "."
	}
	return ""
}

// description is one setting as scripts read it.
type description struct {
	Key         string        `json:"key"`
	Default     string        `json:"default,omitempty"`
	Otherwise   string        `json:"otherwise,omitempty"` // what holds where there is no default value
	Sentence    string        `json:"sentence"`
	Environment string        `json:"environment,omitempty"`
	FileKey     string        `json:"fileKey,omitempty"` // the key that names a file instead, for secrets
	Items       []description `json:"items,omitempty"`   // the keys of each item, for lists of objects
}

// PrintJSON writes the same as Print for scripts: an array of descriptions.
func PrintJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(describe(settings(Default())))
}

func describe(list []setting) []description {
	all := make([]description, 0, len(list))
	for _, s := range list {
		d := description{Key: s.key, Default: s.def, Otherwise: s.elseDoc, Sentence: s.doc, Environment: s.env()}
		if s.secret() {
			d.FileKey = s.key + fileSuffix
		}
		if s.objects() {
			d.Items = describe(flatten(members(reflect.New(s.field.Type().Elem()).Elem(), "")))
			for i := range d.Items {
				d.Items[i].Environment = "" // lists of objects are in the file only
			}
		}
		all = append(all, d)
	}
	return all
}

// leastSecret is the shortest secret that is looked for in other texts: shorter ones
// are parts of words.
const leastSecret = 6

// Secrets lists the secrets that are set, those of connections and other lists
// included, but for the shortest.
func (c *Config) Secrets() (list []secret.Value) {
	each(settings(c), "", func(_ string, s setting) {
		if v, is := s.field.Interface().(secret.Value); is && len(v.Reveal()) >= leastSecret {
			list = append(list, v)
		}
	})
	return list
}

// PrintMasked writes the value of every setting, a line each, and of secrets only that
// they are set.
func (c *Config) PrintMasked(w io.Writer) (err error) {
	each(settings(c), "", func(key string, s setting) {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s: %v\n", key, s.field.Interface())
		}
	})
	return err
}

// each calls f for each setting with its key, as in notify.connections[0].name.
func each(list []setting, prefix string, f func(key string, s setting)) {
	for _, s := range list {
		if !s.objects() {
			f(prefix+s.key, s)
			continue
		}
		for i := range s.field.Len() {
			item := flatten(members(reflect.Indirect(s.field.Index(i)), ""))
			each(item, fmt.Sprintf("%s%s[%d].", prefix, s.key, i), f)
		}
	}
}

// wrap breaks text into lines of at most width bytes.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
