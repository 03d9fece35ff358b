package settings

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
)

// DefaultTarget is requested by default: a chat platform that answers without
// credentials.
const DefaultTarget = "https://hooks.slack.com/"

// Client tries a proxy; *egress.Client is one.
type Client interface {
	CheckURL(raw string) error
	Try(ctx context.Context, proxy *url.URL, target string) (egress.Trial, error)
}

// Try asks target ("": DefaultTarget) by a proxy that need not be saved, or
// without one, and says in a sentence what came back. wrong is as for Save.
//
// Errors: fault.Invalid for what cannot be tried, fault.Unavailable where no
// answer comes, with the reason.
func (s *Store) Try(ctx context.Context, client Client, proxyURL, target string, wrong fault.Fields) (string, error) {
	stored, err := s.Read(ctx)
	if err != nil {
		return "", err
	}
	if target = strings.TrimSpace(target); target == "" {
		target = DefaultTarget
	}
	if err := client.CheckURL(target); err != nil {
		wrong.Add("url", "%s", fault.As(err).Message)
	}
	proxy, err := stored.ReadProxy(strings.TrimSpace(proxyURL))
	if err := fault.Every(wrong.Err(), err); err != nil {
		return "", err
	}
	trial, err := client.Try(ctx, proxy, target)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The test failed: %s.", err)
	}
	way := "directly, without a proxy"
	if trial.Proxy != "" {
		way = "through the proxy " + trial.Proxy
	}
	return fmt.Sprintf("%s answered %d %s (%s).", trial.Host, trial.Status, http.StatusText(trial.Status), way), nil
}
