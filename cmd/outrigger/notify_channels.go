package main

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// chatChannel is a channel as the server lists it.
type chatChannel struct {
	Channel    string    `json:"channel"`
	Name       string    `json:"name"`
	WebhookURL string    `json:"webhookUrl"`
	Rules      []int64   `json:"rules"`
	Reports    []int64   `json:"reports,omitempty"`
	State      string    `json:"state"`
	Reason     string    `json:"reason,omitempty"`
	Since      time.Time `json:"since,omitzero"`
	Until      time.Time `json:"until,omitzero"`
	LastOKAt   time.Time `json:"lastOkAt,omitzero"`
	Waiting    int       `json:"waiting"`
	Held       int       `json:"held,omitempty"`
	HeldUntil  time.Time `json:"heldUntil,omitzero"`
}

type channelsCmd struct{ askFlags }

func (c channelsCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	found, err := list[chatChannel](ctx, server, channelsPath, url.Values{})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, found)
	}
	rows := make([][]string, len(found))
	for i, one := range found {
		rows[i] = []string{one.Channel, one.Name, one.State, stamp(one.Until), stamp(one.LastOKAt), strconv.Itoa(one.Waiting), dash(oneLine(one.Reason))}
	}
	return printRows(s.out, []string{"CHANNEL", "NAME", "STATE", "NEXT TRY", "LAST SUCCESS", "WAITING", "REASON"}, rows)
}
