package pages

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue"
)

// find finds messages by number and by subject.
func (p *Pages) find(ctx context.Context, query string) (found []console.Found, err error) {
	if !administers(identity.From(ctx)) {
		return nil, nil
	}
	filters := []mailqueue.MessageFilter{{Subject: query, Limit: console.MaxFound}}
	if id, err := strconv.ParseInt(strings.TrimPrefix(query, "#"), 10, 64); err == nil {
		filters = append([]mailqueue.MessageFilter{{IDs: []int64{id}, Limit: 1}}, filters...)
	}
	for _, f := range filters {
		messages, err := p.Relay.Messages(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			number := strconv.FormatInt(m.ID, 10)
			found = append(found, console.Found{
				Kind: "Message", Label: cmp.Or(m.Subject, "no subject"), Where: "number " + number + " from " + cmp.Or(m.Sender, "nobody"),
				Path: messagesPath + "/" + number,
			})
		}
	}
	return found, nil
}
