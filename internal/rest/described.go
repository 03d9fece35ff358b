package rest

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// described is an operation without the types of its input and output.
type described struct {
	route    Route
	words    Words
	status   int
	input    *binding
	output   reflect.Type
	examples func() []untyped
}

// untyped is an Example without its types; out is nil where there is none.
type untyped struct {
	name    string
	in, out any
	err     error
	unsent  bool
}

// shown is an example as the description has it.
type shown struct {
	name     string
	status   int
	request  any // nil: it has no body
	response any // nil: nothing is shown
}

// newDescribed adds an operation to the description; its route takes what In has of
// parameters and of If-Match.
func newDescribed[In, Out any](rt *Router, route Route, words Words, examples []Example[In, Out]) *described {
	out := reflect.TypeFor[Out]()
	d := &described{
		route: route, words: words, status: success(words, out), input: newBinding(reflect.TypeFor[In](), route), output: bodyType(out),
		examples: func() []untyped { return untypedOf(examples) },
	}
	d.route.Query, d.route.Conditional = d.input.names(), d.input.match != nil
	rt.operations = append(rt.operations, d)
	return d
}

func untypedOf[In, Out any](examples []Example[In, Out]) []untyped {
	all := make([]untyped, len(examples))
	for i, e := range examples {
		all[i] = untyped{name: e.Name, in: e.In, err: e.Err, unsent: e.Unsent}
		if e.Out != nil {
			all[i].out = *e.Out
		}
	}
	return all
}

// bodyType is T of an Answer[T].
func bodyType(t reflect.Type) reflect.Type {
	if a, ok := reflect.Zero(t).Interface().(interface{ body() reflect.Type }); ok {
		return a.body()
	}
	return t
}

func (d *described) shown() (all []shown) {
	for _, e := range d.examples() {
		s := shown{name: e.name, status: d.status}
		if d.input.hasBody() && !e.unsent {
			s.request = jsonOf(e.in, json.OmitZeroStructFields(d.input.embeds))
		}
		switch {
		case e.err != nil:
			body := bodyOf(fault.As(e.err))
			s.status, s.response = body.Status, jsonOf(body)
		case e.out != nil:
			status, body := d.answered(http.Header{}, e.out)
			s.status, s.response = status, jsonOf(body)
		}
		all = append(all, s)
	}
	return all
}

// shownOptions have secrets as they are: those of examples are none.
var shownOptions = json.JoinOptions(jsonOptions, json.WithMarshalers(json.MarshalToFunc(func(to *jsontext.Encoder, v secret.Value) error {
	return to.WriteToken(jsontext.String(v.Reveal()))
})))

// jsonOf is a value as its JSON reads.
func jsonOf(v any, options ...json.Options) any {
	text, err := json.Marshal(v, append(options, shownOptions)...)
	if err != nil {
		panic(err)
	}
	var out any // in the order of its members, and with whole numbers
	if err := yaml.UnmarshalWithOptions(text, &out, yaml.UseOrderedMap()); err != nil {
		panic(err)
	}
	return out
}

// document is the operation in OpenAPI 3.1.
func (d *described) document(s schemas) yaml.MapSlice {
	out := yaml.MapSlice{
		{Key: "tags", Value: []string{d.words.Tag}}, {Key: "operationId", Value: d.words.ID}, {Key: "summary", Value: d.words.Summary},
	}
	add := func(key string, value any) { out = append(out, yaml.MapItem{Key: key, Value: value}) }
	if d.words.Text != "" {
		add("description", d.words.Text)
	}
	if d.route.Access == Anyone || d.route.Raw {
		add("security", []string{})
	}
	if parameters := d.parameters(s); len(parameters) > 0 {
		add("parameters", parameters)
	}
	switch {
	case d.input.hasBody():
		add("requestBody", yaml.MapSlice{{Key: "required", Value: !d.input.bare}, content("application/json", d.request(s), d.requests())})
	case len(d.words.Takes) > 0:
		add("requestBody", yaml.MapSlice{{Key: "required", Value: !d.input.bare}, taken(d.words.Takes)})
	}
	add("responses", d.responses(s))
	return out
}

func (d *described) parameters(s schemas) (all []yaml.MapSlice) {
	words := memberWords(d.input.input)
	add := func(p parameter, in string, required bool) {
		one := yaml.MapSlice{{Key: "name", Value: p.name}, {Key: "in", Value: in},
			{Key: "schema", Value: append(s.valued(p.field), bounds(p.field)...)}}
		if required {
			one = append(one, yaml.MapItem{Key: "required", Value: true})
		}
		all = append(all, append(one, told(p.field, words[p.name])...))
	}
	for _, p := range d.input.path {
		add(p, "path", true)
	}
	for _, p := range d.input.query {
		add(p, "query", p.field.Tag.Get("required") != "")
	}
	for _, p := range d.input.header {
		add(p, "header", p.field.Tag.Get("required") != "")
	}
	if d.input.page != nil {
		all = append(all, reference("parameters", "limit"), reference("parameters", "after"))
	}
	if d.input.match != nil {
		all = append(all, reference("parameters", "ifMatch"))
	}
	if d.words.Confirmed {
		all = append(all, reference("parameters", "code"))
	}
	return all
}

// request is the schema of the body.
func (d *described) request(s schemas) yaml.MapSlice {
	out := s.object(d.input.input)
	for _, t := range d.input.ignored {
		s.readOnly(out, t, d.input.body)
	}
	return out
}

// requests are the bodies that are shown.
func (d *described) requests() (all yaml.MapSlice) {
	for _, e := range d.shown() {
		if e.request != nil {
			all = append(all, example(e.name, e.request))
		}
	}
	return all
}

func example(name string, value any) yaml.MapItem {
	return yaml.MapItem{Key: name, Value: yaml.MapSlice{{Key: "value", Value: value}}}
}

// taken is a body that is no JSON of an operation's members.
func taken(media []Media) yaml.MapItem {
	var all yaml.MapSlice
	for _, m := range media {
		var examples yaml.MapSlice
		for _, name := range slices.Sorted(maps.Keys(m.Examples)) {
			examples = append(examples, example(name, jsonOf(m.Examples[name])))
		}
		all = append(all, content(m.Type, mediaSchema(m.Type), examples).Value.(yaml.MapSlice)...)
	}
	return yaml.MapItem{Key: "content", Value: all}
}

func content(media string, schema, examples yaml.MapSlice) yaml.MapItem {
	of := yaml.MapSlice{{Key: "schema", Value: schema}}
	if len(examples) > 0 {
		of = append(of, yaml.MapItem{Key: "examples", Value: examples})
	}
	return yaml.MapItem{Key: "content", Value: yaml.MapSlice{{Key: media, Value: of}}}
}

// mediaSchema is the schema of a body that is no JSON of a type.
func mediaSchema(mediaType string) yaml.MapSlice {
	switch {
	case mediaType == "application/json":
		return yaml.MapSlice{}
	case strings.HasPrefix(mediaType, "text/"):
		return yaml.MapSlice{{Key: "type", Value: "string"}}
	}
	return yaml.MapSlice{{Key: "type", Value: "string"}, {Key: "format", Value: "binary"}}
}

// paths are the operations by their paths.
func paths(all []*described, s schemas) yaml.MapSlice {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *described) int { return cmp.Compare(a.route.Path, b.route.Path) })
	var out yaml.MapSlice
	for i := range all {
		path := strings.ReplaceAll(all[i].route.Path, "...}", "}")
		operation := yaml.MapItem{Key: strings.ToLower(all[i].route.Method), Value: all[i].document(s)}
		if n := len(out); n > 0 && out[n-1].Key == path {
			out[n-1].Value = append(out[n-1].Value.(yaml.MapSlice), operation)
			continue
		}
		out = append(out, yaml.MapItem{Key: path, Value: yaml.MapSlice{operation}})
	}
	return out
}
