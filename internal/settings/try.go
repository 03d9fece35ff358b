package settings

import (
	"context"
	"fmt"
	"strings"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
)

// DefaultTarget is requested by default: a chat platform that answers without
// credentials.
const DefaultTarget = "https://hooks.slack.com/"

// Try asks target ("": DefaultTarget) by a proxy that need not be saved, or
// without one, and says in a sentence that it was reached. wrong is as for Save.
// The reason of a failure goes to the log alone: with it, ports of the inner
// network could be told apart.
//
// Errors: as for Save, fault.Invalid for what cannot be tried, and
// fault.Unavailable where target is not reached.
func (s *Store) Try(ctx context.Context, client *egress.Client, proxyURL, target string, wrong fault.Fields) (string, error) {
	if err := s.confirmed(ctx); err != nil {
		return "", err
	}
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
	proxy, err := stored.readProxy(strings.TrimSpace(proxyURL))
	if err := fault.Every(wrong.Err(), err); err != nil {
		return "", err
	}
	trial, err := client.Try(ctx, proxy, target)
	way := "directly, without a proxy"
	if trial.Proxy != "" {
		way = "through the proxy " + trial.Proxy
	}
	if err != nil {
		s.log.Warn("the test of the proxy failed", "error", err)
		return "", fault.Wrap(err, fault.Unavailable, "%s was not reached %s. The log of this server has the reason.", trial.Host, way)
	}
	return fmt.Sprintf("%s was reached %s.", trial.Host, way), nil
}
