package main

import (
	"context"
	"net/url"
	"strconv"

	"outrigger/internal/notify/api"
)

type channelsCmd struct{ askFlags }

func (c channelsCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	found, err := list[api.Channel](ctx, server, api.ChannelsPath, url.Values{})
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
