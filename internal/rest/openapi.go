package rest

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.yaml
var openAPI []byte

// OpenAPI is the description of the whole REST API, in OpenAPI 3.1.
func OpenAPI() []byte { return openAPI }

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI) // an error is the client's going away
	return nil
}
