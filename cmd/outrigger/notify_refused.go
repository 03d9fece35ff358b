package main

import (
	"cmp"
	"context"
	"net/url"
	"strconv"

	"outrigger/internal/notify/api"
)

type refusedCmd struct {
	askFlags
	Connection string `help:"Only webhooks of this connection." placeholder:"NAME"`
}

func (c refusedCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	query := url.Values{}
	if c.Connection != "" {
		query.Set("connection", c.Connection)
	}
	all, err := list[api.RefusedWebhooks](ctx, server, api.RefusedPath, query)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, all)
	}
	rows := make([][]string, len(all))
	for i, r := range all {
		rows[i] = []string{r.Connection, cmp.Or(r.Hook, "-"), string(r.Reason), strconv.Itoa(r.Count), stamp(r.LastAt), r.LastAddress,
			r.LastMessage, r.Advice}
	}
	return printRows(s.out, []string{"CONNECTION", "HOOK", "REASON", "IN 24 H", "LAST", "FROM", "ANSWER", "WHAT HELPS"}, rows)
}
