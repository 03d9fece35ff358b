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
	Add(rt, Operation[struct{}, string]{
		Route: Route{Method: http.MethodGet, Path: "/rest/openapi.yaml", Access: Anyone, Own: true},
		Words: Words{
			ID: "getDescription", Tag: "operation", Summary: "Returns this document.", Answer: "OpenAPI 3.1.", Media: "application/yaml",
			Text: "It is made of what the server has: paths, members and limits are those of this version.",
		},
		Handle: rt.serveOpenAPI,
	})
	Add(rt, Operation[struct{}, string]{
		Route: Route{Method: http.MethodGet, Path: "/rest/openapi.json", Access: Anyone, Own: true},
		Words: Words{
			ID: "getDescriptionInJSON", Tag: "operation", Summary: "Returns this document as JSON.", Answer: "OpenAPI 3.1.",
			Media: "application/json",
			Text:  "The same as `/rest/openapi.yaml`, for tools that read no YAML.",
		},
		Handle: rt.serveOpenAPIInJSON,
	})
}

func (rt *Router) serveOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(rt.OpenAPI()) // an error is the client's going away
	return nil
}

func (rt *Router) serveOpenAPIInJSON(w http.ResponseWriter, _ *http.Request) error {
	text, err := rt.descriptionInJSON()
	if err != nil {
		return fmt.Errorf("the description in JSON: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // an error is the client's going away
	return nil
}
