package main

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"time"
)

const refusedPath = "/rest/outrigger/1.0/refused-webhooks"

// refused are webhooks that were refused for one reason, as the server counts
// them.
type refused struct {
	Connection     string    `json:"connection"`
	Hook           string    `json:"hook,omitempty"`
	Reason         string    `json:"reason"`
	Count          int       `json:"count"`
	Recent         int       `json:"recent"`
	LastAt         time.Time `json:"lastAt"`
	LastAddress    string    `json:"lastAddress"`
	LastMessage    string    `json:"lastMessage"`
	NeedsAttention bool      `json:"needsAttention"`
	Advice         string    `json:"advice"`
}

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
	all, err := list[refused](ctx, server, refusedPath, query)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, all)
	}
	rows := make([][]string, len(all))
	for i, r := range all {
		rows[i] = []string{r.Connection, cmp.Or(r.Hook, "-"), r.Reason, strconv.Itoa(r.Count), stamp(r.LastAt), r.LastAddress, r.LastMessage, r.Advice}
	}
	return printRows(s.out, []string{"CONNECTION", "HOOK", "REASON", "IN 24 H", "LAST", "FROM", "ANSWER", "WHAT HELPS"}, rows)
}
