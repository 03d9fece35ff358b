package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/notify/api"
)

// show prints one delivery with its attempts.
func (c deliveriesCmd) show(ctx context.Context, s streams) error {
	if c.Rule != 0 || c.State != "" {
		return usage("give the id of a delivery, or --rule and --state, not both")
	}
	var d api.Delivery
	if err := c.send(ctx, "GET", fmt.Sprintf("%s/%d", api.DeliveriesPath, c.ID), nil, &d); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, d)
	}
	return printDelivery(s.out, &d)
}

// printDelivery writes a delivery for people.
func printDelivery(out io.Writer, d *api.Delivery) error {
	rows := [][]string{
		{"State", standing(d)}, {"Event", dash(typeKeys(d.EventTypes))},
		{"Repository", dash(strings.Trim(d.ProjectKey+"/"+d.RepositoryKey, "/"))},
		{"Channel", toChannel(d)}, {"Received", stamp(d.CreatedAt)}, {"Ended", stamp(d.FinishedAt)}, {"Attempts", strconv.Itoa(d.Attempts)},
	}
	for i := range d.AttemptList {
		rows = append(rows, attemptRows(&d.AttemptList[i])...)
	}
	return printRows(out, []string{"MEMBER", "VALUE"}, rows)
}

func attemptRows(a *api.DeliveryAttempt) [][]string {
	result := "no answer"
	if a.Status != 0 {
		result = strconv.Itoa(a.Status)
	}
	rows := [][]string{{"Attempt", fmt.Sprintf("%s: %s after %.3f s", stamp(a.At), result, a.Seconds)}}
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		rows = append(rows, []string{"  " + name, a.Headers[name]})
	}
	for _, part := range []struct{ name, text string }{{"Error", a.Error}, {"Answer", a.Answer}, {"Sent", a.Request}} {
		if part.text != "" {
			rows = append(rows, []string{"  " + part.name, oneLine(part.text)})
		}
	}
	if a.AnswerWithheld {
		rows = append(rows, []string{"  Answer", "shown to administrators only"})
	}
	if a.RequestWithheld {
		rows = append(rows, []string{"  Sent", "shown to administrators only"})
	}
	return rows
}
