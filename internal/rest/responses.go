package rest

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/goccy/go-yaml"
)

// responses are the success and what can go wrong.
func (d *described) responses(s schemas) (all yaml.MapSlice) {
	if d.status < http.StatusBadRequest { // else the operation is always refused
		all = append(all, d.success(s, Success{Status: d.status, Text: d.words.Answer, Headers: d.words.Headers}))
	}
	for _, also := range d.words.Also {
		all = append(all, d.success(s, also))
	}
	for _, status := range d.refusals() {
		all = append(all, yaml.MapItem{Key: strconv.Itoa(status), Value: d.refusal(status)})
	}
	return all
}

// refusal is what can go wrong with a status.
func (d *described) refusal(status int) yaml.MapSlice {
	examples, words := d.answers(status), d.words.RefusedFor[status]
	if len(examples) == 0 && words == "" {
		return reference("responses", refusals[status])
	}
	of := content("application/json", reference("schemas", "Error"), examples)
	inXML := content("application/xml", reference("schemas", "Error"), nil)
	of.Value = append(of.Value.(yaml.MapSlice), inXML.Value.(yaml.MapSlice)...)
	out := slices.Clone(usualRefusals()[refusals[status]])
	if len(out) == 0 { // a status of this operation alone
		out = yaml.MapSlice{{Key: "description", Value: "See `message`."}, {Key: "content"}}
	}
	for i, part := range out {
		switch {
		case part.Key == "description" && words != "":
			out[i].Value = words
		case part.Key == "content":
			out[i] = of
		}
	}
	return out
}

// usualRefusals are those of openapi.yaml by their names: words, headers and content.
var usualRefusals = sync.OnceValue(func() map[string]yaml.MapSlice {
	var all struct {
		Components struct {
			Responses map[string]yaml.MapSlice `yaml:"responses"`
		} `yaml:"components"`
	}
	if err := yaml.UnmarshalWithOptions([]byte(openAPI), &all, yaml.UseOrderedMap()); err != nil {
		panic(err) // it is embedded
	}
	return all.Components.Responses
})

func (d *described) success(s schemas, one Success) yaml.MapItem {
	out, of := yaml.MapSlice{{Key: "description", Value: one.Text}}, d.output
	if one.Of != nil {
		of = reflect.TypeOf(one.Of)
	}
	if len(one.Headers) > 0 {
		var headers yaml.MapSlice
		for _, name := range one.Headers {
			headers = append(headers, yaml.MapItem{Key: name, Value: headerWords[name]})
		}
		out = append(out, yaml.MapItem{Key: "headers", Value: headers})
	}
	if bodies := d.bodies(s, of, one); len(bodies) > 0 {
		out = append(out, yaml.MapItem{Key: "content", Value: bodies})
	}
	return yaml.MapItem{Key: strconv.Itoa(one.Status), Value: out}
}

// bodies are those of a success, by their media types.
func (d *described) bodies(s schemas, of reflect.Type, one Success) (all yaml.MapSlice) {
	add := func(media string, schema, examples yaml.MapSlice) {
		all = append(all, content(media, schema, examples).Value.(yaml.MapSlice)...)
	}
	if of.Kind() == reflect.String {
		for _, media := range d.words.Media {
			add(media, mediaSchema(media), d.answers(one.Status))
		}
		return all
	}
	if of != reflect.TypeFor[None]() {
		add("application/json", s.of(of), d.answers(one.Status))
		if d.route.XML {
			add("application/xml", s.of(of), nil)
		}
	}
	if one.Of == nil {
		for _, media := range d.words.Media {
			add(media, mediaSchema(media), nil)
		}
	}
	return all
}

// headerWords describe the headers of successes.
var headerWords = map[string]yaml.MapSlice{
	"ETag":        headerOf("Names the version; for If-Match.", "string"),
	"Location":    headerOf("Its URL.", "string"),
	"Retry-After": headerOf("Seconds.", "integer"),

	"Outrigger-Event": headerOf("The id of the stored event; of the first where the webhook holds several.", "integer", anID...),
	"Outrigger-Duplicate-Of": headerOf("The webhook came in before, by its request id or, within 10 minutes, by its key and body: "+
		"the id of the event that it was then. Nothing is sent for it again.", "integer", anID...),

	"Upload-Offset":          headerOf("How many bytes of the file are here.", "integer"),
	"Upload-Length":          headerOf("How many bytes the file has.", "integer"),
	"Upload-Expires":         headerOf("When it is deleted unless it is added to or loaded, as a date of HTTP.", "string"),
	"Tus-Version":            headerOf("The versions of tus.", "string"),
	"Tus-Extension":          headerOf("The extensions of tus.", "string"),
	"Tus-Max-Size":           headerOf("The most bytes of a file.", "integer"),
	"Tus-Checksum-Algorithm": headerOf("The algorithms of checksums.", "string"),
}

// anID is what a header with the id of something stored is beside an integer.
var anID = yaml.MapSlice{{Key: "format", Value: "int64"}, {Key: "minimum", Value: 1}}

func headerOf(words, kind string, limits ...yaml.MapItem) yaml.MapSlice {
	schema := append(yaml.MapSlice{{Key: "type", Value: kind}}, limits...)
	return yaml.MapSlice{{Key: "description", Value: words}, {Key: "schema", Value: schema}}
}

// answers are the examples that have a status.
func (d *described) answers(status int) (all yaml.MapSlice) {
	for _, e := range d.shown() {
		if e.status == status && e.response != nil {
			all = append(all, example(e.name, e.response))
		}
	}
	return all
}

// refusals are the statuses of what can go wrong, each once.
func (d *described) refusals() []int {
	all := slices.Clone(d.words.Refused)
	takes := d.input.hasBody() || len(d.words.Takes) > 0
	if takes || len(d.input.query) > 0 || d.input.page != nil {
		all = append(all, http.StatusBadRequest)
	}
	if takes {
		all = append(all, http.StatusRequestEntityTooLarge)
	}
	if len(d.input.path) > 0 {
		all = append(all, http.StatusNotFound)
	}
	if d.input.match != nil {
		all = append(all, http.StatusPreconditionFailed)
	}
	if d.route.Access != Anyone {
		all = append(all, http.StatusUnauthorized)
	}
	if d.route.Access > Anyone && d.route.Access != Builds && d.route.Access != Watchers {
		all = append(all, http.StatusForbidden)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// refusals are the answers of the description by their statuses.
var refusals = map[int]string{
	http.StatusBadRequest: "Invalid", http.StatusUnauthorized: "Unauthenticated", http.StatusForbidden: "Forbidden",
	http.StatusNotFound: "NotFound",
	http.StatusConflict: "Conflict", http.StatusRequestEntityTooLarge: "TooLarge", http.StatusServiceUnavailable: "Unavailable",
	http.StatusTooManyRequests: "RateLimited", http.StatusPreconditionFailed: "Changed", http.StatusRequestTimeout: "Timeout",
}
