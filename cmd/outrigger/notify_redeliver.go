package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/notify/api"
)

type redeliverCmd struct {
	askFlags
	yesFlag
	ofRule
	IDs []int64 `arg:"" optional:"" name:"id" help:"Delivery ids. Without ids, select deliveries by --state and --rule."`
}

func (c redeliverCmd) Run(ctx context.Context, s streams) error {
	if (len(c.IDs) > 0) == (c.State != "") {
		return usage("give delivery ids, or select deliveries with --state")
	}
	if len(c.IDs) > 0 {
		return c.each(ctx, s)
	}
	if err := c.needed(s); err != nil {
		return err
	}
	server, err := c.client()
	if err != nil {
		return err
	}
	q := c.query()
	if !c.Yes {
		var now api.Redeliverable
		if err := server.do(ctx, "GET", api.DeliveriesPath+"/redeliver?"+q.Encode(), nil, &now); err != nil {
			return err
		}
		question := "Redeliver %d deliveries?"
		if skips := skips(now.Skipped, now.Forbidden); skips != "" {
			question += " Skipped: " + skips + "."
		}
		if err := c.sureOfMany(ctx, s, question, int64(now.Count)); err != nil {
			return err
		}
		q.Set("count", strconv.Itoa(now.Count))
		q.Set("asOf", now.AsOf.Format(time.RFC3339Nano))
	}
	var done api.Redelivered
	if err := server.do(ctx, "POST", api.DeliveriesPath+"/redeliver?"+q.Encode(), nil, &done); err != nil {
		return err
	}
	return sayRedelivered(s, c.JSON, done)
}

// each redelivers the deliveries that are named, up to the first that is refused.
func (c redeliverCmd) each(ctx context.Context, s streams) error {
	if err := c.sureOfMany(ctx, s, "Redeliver %d deliveries?", int64(len(c.IDs))); err != nil {
		return err
	}
	server, err := c.client()
	if err != nil {
		return err
	}
	var all api.Redelivered
	for _, id := range c.IDs {
		q := url.Values{"id": {strconv.FormatInt(id, 10)}}
		if err := server.do(ctx, "POST", api.DeliveriesPath+"/redeliver?"+q.Encode(), nil, nil); err != nil {
			return err
		}
		all.Redelivered++
	}
	return sayRedelivered(s, c.JSON, all)
}

func sayRedelivered(s streams, asJSON bool, r api.Redelivered) error {
	text := fmt.Sprintf("%d queued again", r.Redelivered)
	if skips := skips(r.Skipped, r.Forbidden); skips != "" {
		text += "; skipped: " + skips
	}
	return s.say(asJSON, r, "%s", text)
}

// skips says how many are left alone, and why.
func skips(unwanted, forbidden int) string {
	var skipped []string
	if unwanted > 0 {
		skipped = append(skipped, fmt.Sprintf("%d that no enabled rule takes any more", unwanted))
	}
	if forbidden > 0 {
		skipped = append(skipped, fmt.Sprintf("%d with a rule that you do not administer", forbidden))
	}
	return strings.Join(skipped, "; ")
}
