// Package remote reads the sizes of a mail queue from another server of the
// mail queue API: GET {base_url}/rest/mailqueue/1.0/status.
package remote

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json"

	"outrigger/internal/config"
	"outrigger/internal/egress"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/endpoint"
)

// maxAnswer is far above what the API answers, which has some forty bytes.
const maxAnswer = 1 << 20

// Source is the other server.
type Source struct{ status endpoint.Endpoint }

// New makes a Source.
func New(client egress.Doer, o config.MailRemote) *Source {
	return &Source{endpoint.Endpoint{
		Client: client, What: "The mail queue server", URL: strings.TrimRight(o.URL, "/") + mailqueue.StatusPath,
		User: o.User, Password: o.Password, Token: o.Token,
	}}
}

// Sizes asks for the sizes of now.
func (s *Source) Sizes(ctx context.Context) (mailqueue.Sizes, error) {
	return s.status.Ask(ctx, endpoint.Request{Accept: "application/json", Max: maxAnswer}, decode)
}

var errNoQueue = errors.New("answered something that is not a mail queue")

// decode reads a MailQueue; members that a later version may add are passed
// over.
func decode(body io.Reader) (mailqueue.Sizes, error) {
	var q struct {
		Size      *int64 `json:"size"`
		ErrorSize *int64 `json:"errorSize"`
	}
	if err := json.UnmarshalRead(body, &q); err != nil || q.Size == nil || q.ErrorSize == nil || *q.Size < 0 || *q.ErrorSize < 0 {
		return mailqueue.Sizes{}, errNoQueue
	}
	return mailqueue.Sizes{Size: *q.Size, ErrorSize: *q.ErrorSize}, nil
}
