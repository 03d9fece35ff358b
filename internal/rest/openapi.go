package rest

import (
	_ "embed"
	"fmt"
	"net/http"
	"strings"

	"github.com/goccy/go-yaml"
)

// openAPI is what all operations share: what they have in common in words, how users sign
// in, and the errors.
//
//go:embed openapi.yaml
var openAPI string

// OpenAPI is the description of the whole REST API, in OpenAPI 3.1. Call it when
// every route is there.
func (rt *Router) OpenAPI() []byte { return rt.description() }

func (rt *Router) makeDescription() []byte {
	made := schemas{}
	operations := inset(paths(rt.operations, made), 1)
	var types yaml.MapSlice
	for _, name := range made.names() {
		types = append(types, yaml.MapItem{Key: name, Value: made[name].text})
	}
	text := strings.Replace(openAPI, "\ncomponents:\n", "\n"+operations+"\ncomponents:\n", 1)
	return []byte(text + inset(types, 2)) // the schemas are at its end
}

func (rt *Router) makeDescriptionInJSON() ([]byte, error) { return yaml.YAMLToJSON(rt.OpenAPI()) }

// inset is a value in YAML, as so many levels further in.
func inset(v yaml.MapSlice, levels int) string {
	if len(v) == 0 {
		return ""
	}
	text, err := yaml.MarshalWithOptions(v, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
	if err != nil {
		panic(err) // made of texts, numbers and maps
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		out.WriteString(strings.Repeat("  ", levels) + line)
	}
	return out.String()
}

// describeItself adds the operations by which the description is read.
func (rt *Router) describeItself() {
	Handle[struct{}, string](rt, Route{Method: http.MethodGet, Path: "/rest/openapi.yaml", Access: Anyone, Own: true}, Words{
		ID: "getDescription", Tag: "operation", Summary: "Returns this document.", Answer: "OpenAPI 3.1.", Media: []string{"application/yaml"},
		Text: "It is made of what the server has: paths, members and limits are those of this version.",
	}, written("application/yaml", func() ([]byte, error) { return rt.OpenAPI(), nil }))
	Handle[struct{}, string](rt, Route{Method: http.MethodGet, Path: "/rest/openapi.json", Access: Anyone, Own: true}, Words{
		ID: "getDescriptionInJSON", Tag: "operation", Summary: "Returns this document as JSON.", Answer: "OpenAPI 3.1.",
		Media: []string{"application/json"},
		Text:  "The same as `/rest/openapi.yaml`, for tools that read no YAML.",
	}, written("application/json", rt.descriptionInJSON))
}

// written answers a text that is made when it is asked for.
func written(media string, text func() ([]byte, error)) Handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		made, err := text()
		if err != nil {
			return fmt.Errorf("the description: %w", err)
		}
		w.Header().Set("Content-Type", media)
		_, _ = w.Write(made) // an error is the client's going away
		return nil
	}
}
