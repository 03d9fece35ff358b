package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

type redeliverCmd struct {
	askFlags
	yesFlag
	ofRule
	IDs []int64 `arg:"" optional:"" name:"id" help:"Delivery ids. Without ids, select deliveries by --state and --rule."`
}

// redelivered counts what a request to redeliver did.
type redelivered struct {
	Redelivered int `json:"redelivered"`
	Skipped     int `json:"skipped"`
	Forbidden   int `json:"forbidden"`
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
		var now struct {
			redelivered
			Count int64     `json:"count"`
			AsOf  time.Time `json:"asOf"`
		}
		if err := server.do(ctx, "GET", deliveriesPath+"/redeliver?"+q.Encode(), nil, &now); err != nil {
			return err
		}
		question := "Redeliver %d deliveries?"
		if skips := now.skips(); skips != "" {
			question += " Skipped: " + skips + "."
		}
		if err := c.sureOfMany(ctx, s, question, now.Count); err != nil {
			return err
		}
		q.Set("count", strconv.FormatInt(now.Count, 10))
		q.Set("asOf", now.AsOf.Format(time.RFC3339Nano))
	}
	var done redelivered
	if err := server.do(ctx, "POST", deliveriesPath+"/redeliver?"+q.Encode(), nil, &done); err != nil {
		return err
	}
	return done.say(s, c.JSON)
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
	var all redelivered
	for _, id := range c.IDs {
		q := url.Values{"id": {strconv.FormatInt(id, 10)}}
		if err := server.do(ctx, "POST", deliveriesPath+"/redeliver?"+q.Encode(), nil, nil); err != nil {
			return err
		}
		all.Redelivered++
	}
	return all.say(s, c.JSON)
}

func (r redelivered) say(s streams, asJSON bool) error {
	if asJSON {
		return printJSON(s.out, r)
	}
	text := fmt.Sprintf("%d queued again", r.Redelivered)
	if skips := r.skips(); skips != "" {
		text += "; skipped: " + skips
	}
	_, err := fmt.Fprintln(s.out, text)
	return err
}

// skips says how many are left alone, and why.
func (r redelivered) skips() string {
	var skipped []string
	if r.Skipped > 0 {
		skipped = append(skipped, fmt.Sprintf("%d that no enabled rule takes any more", r.Skipped))
	}
	if r.Forbidden > 0 {
		skipped = append(skipped, fmt.Sprintf("%d with a rule that you do not administer", r.Forbidden))
	}
	return strings.Join(skipped, "; ")
}
