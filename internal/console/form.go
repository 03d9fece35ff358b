package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/fault"
)

// formLimit bounds what a posted form may hold; files are uploaded elsewhere.
const formLimit = 1 << 20

// Form is what stands in a form's fields: what is stored at first, what was
// typed after it was refused, with what is wrong with each. Embed it in the
// data of a page whose template shows the form.
type Form struct {
	values url.Values
	wrong  map[string]string
	odd    map[string]string
	labels map[string]string // of the fields that a template has shown
	first  string            // of those, the first that has an error: it has the focus
}

// NewForm is a form with nothing typed in yet; Set fills it.
func NewForm() *Form { return &Form{values: url.Values{}} }

// ReadForm is the form that a request posts. TooLarge above 1 MiB, Invalid
// when it cannot be read.
func ReadForm(r *http.Request) (*Form, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, formLimit)
	if err := r.ParseForm(); err != nil {
		if tooBig := (*http.MaxBytesError)(nil); errors.As(err, &tooBig) {
			return nil, fault.Wrap(err, fault.TooLarge, "The form is larger than 1 MiB.")
		}
		return nil, fault.Wrap(err, fault.Invalid, "The form could not be read: it is damaged, or has more than 10,000 values. Nothing was "+
			"done. Go back and send it again.")
	}
	values := make(url.Values, len(r.PostForm))
	for name, list := range r.PostForm {
		for _, v := range list {
			v = strings.ReplaceAll(strings.ToValidUTF8(v, "�"), "\x00", "�")
			values[name] = append(values[name], strings.ReplaceAll(v, "\r\n", "\n"))
		}
	}
	return &Form{values: values}, nil
}

// WithForm is a Handler of the form that a request posts.
func WithForm(handle func(r *http.Request, form *Form) (Response, error)) Handler {
	return func(r *http.Request) (Response, error) {
		form, err := ReadForm(r)
		if err != nil {
			return nil, err
		}
		return handle(r, form)
	}
}

// Set fills a field; several values are ticked boxes.
func (f *Form) Set(name string, values ...string) *Form {
	f.values[name] = values
	return f
}

// SetLines fills a text area with one value a line, as Lines reads it.
func (f *Form) SetLines(name string, lines []string) *Form {
	return f.Set(name, strings.Join(lines, "\n"))
}

// SetBool ticks a single box or not.
func (f *Form) SetBool(name string, on bool) *Form {
	if on {
		return f.Set(name, "true")
	}
	return f.Set(name)
}

// Get is the value of a field without the spaces around it.
func (f *Form) Get(name string) string { return strings.TrimSpace(f.values.Get(name)) }

// Raw is the value of a field as it was typed, as passwords need it.
func (f *Form) Raw(name string) string { return f.values.Get(name) }

// All lists the ticked values of a field.
func (f *Form) All(name string) []string { return f.values[name] }

// Bool reports whether a single box is ticked.
func (f *Form) Bool(name string) bool { return f.values.Get(name) == "true" }

// Int is the number in a field; 0 where there is none.
func (f *Form) Int(name string) int64 {
	n, err := strconv.ParseInt(f.Get(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Lines lists what stands in a text area or a field, one a line or separated
// by commas, without empty ones.
func (f *Form) Lines(name string) []string {
	var lines []string
	for _, part := range strings.FieldsFunc(f.values.Get(name), func(r rune) bool { return r == '\n' || r == ',' }) {
		if part = strings.TrimSpace(part); part != "" {
			lines = append(lines, part)
		}
	}
	return lines
}

// Refuse puts the errors at their fields. The shell calls it when a handler
// answers a page and an error.
func (f *Form) Refuse(err *fault.Error) {
	f.wrong = map[string]string{}
	for _, e := range err.Fields {
		name := fieldName(e.Name)
		if f.wrong[name] != "" {
			f.wrong[name] += " "
		}
		f.wrong[name] += e.Message
	}
}

// Warn says at a field what may be a mistake in it.
func (f *Form) Warn(name, message string) {
	if f.odd == nil {
		f.odd = map[string]string{}
	}
	f.odd[fieldName(name)] = message
}

// Wrong reports whether any of the fields has an error or a warning.
func (f *Form) Wrong(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.wrong[name] != "" || f.odd[name] != "" })
}

// fieldName is the form's field of a member that is named as in JSON:
// "branches[2]" and "projects[0].key" are one field each.
func fieldName(member string) string {
	if i := strings.IndexAny(member, "[."); i > 0 {
		return member[:i]
	}
	return member
}

func fieldID(name string) string { return "f-" + name }

// Option is one choice of a select or a group.
type Option struct {
	Value, Label string
	Hint         string // a quieter word after the label
	Chosen       bool   // set by the form
}

// Group is a set of choices under a common name, "" for none.
type Group struct {
	Label   string
	Options []Option
	All     string // the value of a box that stands for all of them, "" for none
}

// Input is one field of a form as its template shows it. The methods of Form
// make it.
type Input struct {
	Kind         string // text, password, secret, area, select, check, checks, radio
	Type         string // of an <input>: text, email, number, time, url
	ID, Name     string
	Label        string
	Value        string
	Hint, Error  string
	Warning      string // what may be a mistake
	Placeholder  string
	Autocomplete string // "off" by default: nothing typed here is about the reader
	Mode         string // what a touch keyboard offers: numeric, url
	Max          int    // characters, 0 for no limit
	Rows         int    // of an area
	Required     bool
	Mark         string   // behind the label of a field that is not required; "optional" by default
	Mono         bool     // patterns, keys, addresses
	Narrow       bool     // numbers, times
	Focus        bool     // the field that is typed into first, or after a refusal the first with an error
	Suggestions  []string // of a field of one line; others may be typed
	Groups       []Group
}

// DescribedBy lists the elements that explain the field, for screen readers.
func (in Input) DescribedBy() string {
	var ids []string
	if in.Error != "" {
		ids = append(ids, in.ID+"-error")
	}
	if in.Warning != "" {
		ids = append(ids, in.ID+"-warning")
	}
	if in.Hint != "" {
		ids = append(ids, in.ID+"-hint")
	}
	return strings.Join(ids, " ")
}

// InputOption adds to an Input; templates write them as hint, required,
// mark, placeholder, mono, narrow, focus, rows, limit, autocomplete, kind,
// suggest.
type InputOption func(*Input)

func (f *Form) input(kind, name, label string, opts []InputOption) Input {
	in := Input{
		Kind: kind, Type: "text", ID: fieldID(name), Name: name, Label: label,
		Value: f.values.Get(name), Error: f.wrong[name], Warning: f.odd[name], Autocomplete: "off", Rows: 4, Mark: "optional",
	}
	for _, o := range opts {
		o(&in)
	}
	if f.first == "" && in.Error != "" {
		f.first = name
	}
	if f.wrong != nil {
		in.Focus = name == f.first
	}
	if f.labels == nil {
		f.labels = map[string]string{}
	}
	f.labels[name] = label
	return in
}

// Label is the label of a field that a template has shown; "" for others.
func (f *Form) Label(name string) string { return f.labels[name] }

// Text is a field of one line.
func (f *Form) Text(name, label string, opts ...InputOption) Input {
	return f.input("text", name, label, opts)
}

// Password is a field that never shows what is in it, and is empty when its
// form is shown again.
func (f *Form) Password(name, label string, opts ...InputOption) Input {
	in := f.input("password", name, label, opts)
	in.Type, in.Value = "password", ""
	return in
}

// Secret is a field for a value that is stored and not shown again. mask is
// what may be shown of the stored one, "" when there is none; what was typed
// stays.
func (f *Form) Secret(name, label, mask string, opts ...InputOption) Input {
	in := f.input("secret", name, label, opts)
	in.Placeholder, in.Mono = mask, true
	return in
}

// Area is a field of several lines.
func (f *Form) Area(name, label string, opts ...InputOption) Input {
	return f.input("area", name, label, opts)
}

// Check is a single box, whose value is "true".
func (f *Form) Check(name, label string, opts ...InputOption) Input {
	return f.input("check", name, label, opts)
}

// Select is a choice of one, as a list that opens.
func (f *Form) Select(name, label string, options []Option, opts ...InputOption) Input {
	return f.choices("select", name, label, []Group{{Options: options}}, opts)
}

// Radio is a choice of one that shows all there is.
func (f *Form) Radio(name, label string, options []Option, opts ...InputOption) Input {
	return f.choices("radio", name, label, []Group{{Options: options}}, opts)
}

// Checks is a choice of several, in groups.
func (f *Form) Checks(name, label string, groups []Group, opts ...InputOption) Input {
	return f.choices("checks", name, label, groups, opts)
}

func (f *Form) choices(kind, name, label string, groups []Group, opts []InputOption) Input {
	in := f.input(kind, name, label, opts)
	for _, g := range groups {
		shown := Group{g.Label, slices.Clone(g.Options), g.All}
		for i := range shown.Options {
			shown.Options[i].Chosen = slices.Contains(f.values[name], shown.Options[i].Value)
		}
		in.Groups = append(in.Groups, shown)
	}
	return in
}
