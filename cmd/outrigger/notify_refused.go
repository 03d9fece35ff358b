package main

import (
	"context"
	"strconv"

	"outrigger/internal/notify/api"
)

type refusedCmd struct {
	askFlags
	Connection string `help:"Only webhooks of this connection." placeholder:"NAME"`
}

func (c refusedCmd) Run(ctx context.Context, s streams) error {
	query := queryOf(map[string]string{"connection": c.Connection})
	header := []string{"CONNECTION", "HOOK", "REASON", "IN 24 H", "LAST", "FROM", "ANSWER", "WHAT HELPS"}
	return printAll(ctx, s, c.askFlags, api.RefusedPath, query, header, func(r *api.RefusedWebhooks) []string {
		return []string{r.Connection, dash(r.Hook), string(r.Reason), strconv.Itoa(r.Count), stamp(r.LastAt), r.LastBy,
			r.Message, r.Advice}
	})
}
