package openapitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Complaints says what is valid in a description and of no use to its readers:
// components that share a name, objects that may have members that are not
// described, parameters, members and operations without words, and operations
// without an example.
func (s *Spec) Complaints() []string {
	found := slices.Concat(s.sharedNames(), s.openObjects(), s.withoutWords(), s.withoutExamples())
	slices.Sort(found)
	return found
}

// sharedNames: generators of clients make a type of every component, whatever its
// kind. Two of one name are refused, or one gets a number.
func (s *Spec) sharedNames() (found []string) {
	parts, kinds := s.doc.Components, map[string][]string{}
	note := func(kind string, names []string) {
		for _, name := range names {
			kinds[strings.ToLower(name)] = append(kinds[strings.ToLower(name)], kind)
		}
	}
	note("schema", slices.Collect(maps.Keys(parts.Schemas)))
	note("parameter", slices.Collect(maps.Keys(parts.Parameters)))
	note("request body", slices.Collect(maps.Keys(parts.RequestBodies)))
	note("response", slices.Collect(maps.Keys(parts.Responses)))
	for name, schema := range parts.Schemas { // and of every enum in one
		for member, of := range schema.Value.Properties {
			if of.Ref == "" && len(of.Value.Enum) > 0 {
				note("enum of "+name, []string{name + member})
			}
		}
	}
	for name, of := range kinds {
		if len(of) > 1 {
			found = append(found, fmt.Sprintf("%s is a %s", name, strings.Join(of, " and a ")))
		}
	}
	return found
}

// openObjects: an answer with a member that the description lacks must fail, so
// every object that it lists members of has no others.
func (s *Spec) openObjects() (found []string) {
	s.eachSchema(func(at string, v *openapi3.Schema) {
		more := v.AdditionalProperties
		if len(v.Properties) > 0 && (more.Has == nil || *more.Has) && more.Schema == nil {
			found = append(found, at+" may have members that are not described")
		}
	})
	return found
}

// withoutWords: a reader of the description has nothing else, so what an operation, a
// parameter and a member is must be said there.
func (s *Spec) withoutWords() (found []string) {
	parameters := func(at string, list openapi3.Parameters) {
		for _, p := range list {
			if p.Value.Description == "" {
				found = append(found, fmt.Sprintf("%s: the parameter %s has no description", at, p.Value.Name))
			}
		}
	}
	for path, item := range s.doc.Paths.Map() {
		parameters(path, item.Parameters)
		for method, op := range item.Operations() {
			parameters(method+" "+path, op.Parameters)
			if op.Summary == "" || op.Description == "" || op.OperationID == "" || len(op.Tags) == 0 {
				found = append(found, fmt.Sprintf("%s %s has no summary, description, operationId or tag", method, path))
			}
		}
	}
	s.eachSchema(func(at string, v *openapi3.Schema) {
		for name, member := range v.Properties {
			if member.Value.Description == "" { // of a reference, nor has what it refers to
				found = append(found, at+"."+name+" has no description")
			}
		}
	})
	return found
}

// withoutExamples: who reads or writes JSON looks at an example first.
func (s *Spec) withoutExamples() (found []string) {
	for path, item := range s.doc.Paths.Map() {
		for method, op := range item.Operations() {
			takes, taken := showsJSON(bodyOf(op))
			answers, shown := false, taken
			for status, response := range op.Responses.Map() {
				json, example := showsJSON(response.Value.Content)
				answers = answers || json && isSuccess(status)
				shown = shown || example && response.Ref == ""
			}
			if takes && !taken || answers && !shown {
				found = append(found, method+" "+path+" has no example")
			}
		}
	}
	return found
}

// showsJSON reports whether a body may be JSON of a schema, and whether it has an example.
func showsJSON(content openapi3.Content) (json, shown bool) {
	for mediaType, of := range content {
		json = json || mediaType == "application/json" && !of.Schema.Value.IsEmpty()
		shown = shown || len(of.Examples) > 0
	}
	return json, shown
}

// bodyOf is the body of a request.
func bodyOf(op *openapi3.Operation) openapi3.Content {
	if op.RequestBody == nil {
		return nil
	}
	return op.RequestBody.Value.Content
}

// eachSchema calls fn for every schema in the description, each where it is written.
func (s *Spec) eachSchema(fn func(at string, v *openapi3.Schema)) {
	var walk func(at string, schema *openapi3.SchemaRef)
	walk = func(at string, schema *openapi3.SchemaRef) {
		if schema == nil || schema.Ref != "" { // which is walked itself
			return
		}
		fn(at, schema.Value)
		for name, member := range schema.Value.Properties {
			walk(at+"."+name, member)
		}
		walk(at+"[]", schema.Value.Items)
		walk(at+"{}", schema.Value.AdditionalProperties.Schema)
		for _, parts := range []openapi3.SchemaRefs{schema.Value.AllOf, schema.Value.AnyOf, schema.Value.OneOf} {
			for _, p := range parts {
				walk(at, p)
			}
		}
	}
	for name, schema := range s.doc.Components.Schemas {
		walk(name, schema)
	}
	contents := func(name string, content openapi3.Content) {
		for _, c := range content {
			walk(name, c.Schema)
		}
	}
	for path, item := range s.doc.Paths.Map() {
		for method, op := range item.Operations() {
			contents(method+" "+path, bodyOf(op))
			for status, response := range op.Responses.Map() {
				if response.Ref == "" {
					contents(method+" "+path+" "+status, response.Value.Content)
				}
			}
		}
	}
	for name, response := range s.doc.Components.Responses {
		contents(name, response.Value.Content)
	}
}
