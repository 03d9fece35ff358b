package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	deliveriesPath = "/rest/mtbs/1.0/configuration/deliveries"
	channelsPath   = "/rest/mtbs/1.0/configuration/channels"
)

// ofRule narrows deliveries.
type ofRule struct {
	Rule  int64  `help:"Only deliveries of the rule with this id." placeholder:"ID"`
	State string `help:"Only deliveries in this state: deciding, waiting, delivered, failed or cancelled." enum:",deciding,waiting,delivered,failed,cancelled" default:"" placeholder:"STATE"`
}

func (f ofRule) query() url.Values {
	q := url.Values{}
	if f.Rule != 0 {
		q.Set("filterId", strconv.FormatInt(f.Rule, 10))
	}
	if f.State != "" {
		q.Set("state", f.State)
	}
	return q
}

// delivery is a delivery as the server lists it.
type delivery struct {
	ID            int64     `json:"id"`
	State         string    `json:"state"`
	Reason        string    `json:"reason,omitempty"`
	Note          string    `json:"note,omitempty"`
	Rules         []int64   `json:"rules"`
	EventTypes    []string  `json:"eventTypes"`
	Connection    string    `json:"connection"`
	ProjectKey    string    `json:"projectKey,omitempty"`
	RepositoryKey string    `json:"repositoryKey,omitempty"`
	Branch        string    `json:"branch,omitempty"`
	User          string    `json:"user,omitempty"`
	Channel       string    `json:"channel"`
	Format        string    `json:"format"`
	Attempts      int       `json:"attempts"`
	CreatedAt     time.Time `json:"createdAt"`
	DueAt         time.Time `json:"dueAt,omitzero"`
	FinishedAt    time.Time `json:"finishedAt,omitzero"`
}

type deliveriesCmd struct {
	askFlags
	ofRule
}

func (c deliveriesCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	found, err := list[delivery](ctx, server, deliveriesPath, c.query())
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, found)
	}
	rows := make([][]string, len(found))
	for i, d := range found {
		rows[i] = []string{
			strconv.FormatInt(d.ID, 10), d.State, stamp(d.CreatedAt), dash(strings.Join(d.EventTypes, ",")),
			dash(strings.Trim(d.ProjectKey+"/"+d.RepositoryKey, "/")), d.Channel, strconv.Itoa(d.Attempts), dash(oneLine(d.Reason)),
		}
	}
	return printRows(s.out, []string{"ID", "STATE", "RECEIVED", "EVENT", "REPOSITORY", "CHANNEL", "ATTEMPTS", "REASON"}, rows)
}

type redeliverCmd struct {
	askFlags
	ofRule
	IDs []int64 `arg:"" optional:"" name:"id" help:"Delivery ids. Without ids, select deliveries by --state and --rule."`
}

// redelivered counts what a request to redeliver did.
type redelivered struct {
	Redelivered int `json:"redelivered"`
	Skipped     int `json:"skipped"`
}

func (c redeliverCmd) Run(ctx context.Context, s streams) error {
	if (len(c.IDs) > 0) == (c.State != "") {
		return usage("give delivery ids, or select deliveries with --state")
	}
	server, err := c.client()
	if err != nil {
		return err
	}
	asks := []url.Values{c.query()}
	if len(c.IDs) > 0 {
		asks = nil
		for _, id := range c.IDs {
			asks = append(asks, url.Values{"id": {strconv.FormatInt(id, 10)}})
		}
	}
	var all redelivered
	for _, q := range asks {
		var done redelivered
		if err := server.do(ctx, "POST", deliveriesPath+"/redeliver?"+q.Encode(), nil, &done); err != nil {
			return err
		}
		all.Redelivered += done.Redelivered
		all.Skipped += done.Skipped
	}
	if c.JSON {
		return printJSON(s.out, all)
	}
	_, err = fmt.Fprintf(s.out, "%d queued again, %d skipped because no enabled rule takes them\n", all.Redelivered, all.Skipped)
	return err
}

type retryChannelCmd struct {
	askFlags
	Which   string `help:"Which waiting messages to send: all, recent (the last 24 hours) or none. The others are cancelled." enum:"all,recent,none" required:""`
	Channel string `arg:"" help:"The channel's fingerprint, from notify deliveries."`
}

func (c retryChannelCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	var done struct {
		Cancelled int `json:"cancelled"`
	}
	path := channelsPath + "/" + url.PathEscape(c.Channel) + "/retry?which=" + c.Which
	if err := server.do(ctx, "POST", path, nil, &done); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, done)
	}
	_, err = fmt.Fprintf(s.out, "channel open, %d waiting messages cancelled\n", done.Cancelled)
	return err
}
