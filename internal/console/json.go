package console

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// JSON answers data that our modules ask for.
type JSON struct{ Data any }

func (j JSON) respond(x *exchange) error {
	body, err := json.Marshal(j.Data)
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(http.StatusOK)
	_, _ = x.w.Write(body) // the client may be gone
	return nil
}
