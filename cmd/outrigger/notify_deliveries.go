package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/api"
)

// ofRule narrows deliveries.
type ofRule struct {
	Rule  int64  `help:"Only deliveries of the rule with this id." placeholder:"ID"`
	State string `help:"${delivery_state}" enum:",deciding,waiting,delivered,failed,cancelled" default:"" placeholder:"STATE"`
}

func (f ofRule) query() url.Values {
	q := queryOf(map[string]string{"state": f.State})
	if f.Rule != 0 {
		q.Set("filterId", strconv.FormatInt(f.Rule, 10))
	}
	return q
}

// toChannel returns the channel of a delivery, by name where it has one; its
// fingerprint tells it from others of that name.
func toChannel(d *api.Delivery) string {
	return strings.TrimSpace(oneLine(d.ChannelName) + " " + d.Channel)
}

// standing is the state of a delivery, with what explains it.
func standing(d *api.Delivery) string {
	text := string(d.State)
	if d.State == notify.Waiting && d.HeldUntil.After(time.Now()) {
		text += " for the end of quiet hours at " + stamp(d.HeldUntil)
	}
	return strings.TrimSpace(text + " " + oneLine(d.Reason))
}

// whyDelivery explains the state of a delivery in a column of its own: the reason,
// and until when quiet hours hold what waits.
func whyDelivery(d *api.Delivery) string {
	text := oneLine(d.Reason)
	if d.State == notify.Waiting && d.HeldUntil.After(time.Now()) {
		text += " quiet hours until " + stamp(d.HeldUntil)
	}
	return strings.TrimSpace(text)
}

type deliveriesCmd struct {
	askFlags
	ofRule
	ID int64 `arg:"" optional:"" help:"The id of a delivery, to show it with its attempts: what was sent, and what came back."`
}

func (c deliveriesCmd) Run(ctx context.Context, s streams) error {
	if c.ID != 0 {
		return c.show(ctx, s)
	}
	header := []string{"ID", "STATE", "RECEIVED", "EVENT", "REPOSITORY", "CHANNEL", "ATTEMPTS", "REASON"}
	return printAll(ctx, s, c.askFlags, api.DeliveriesPath, c.query(), header, func(d *api.Delivery) []string {
		return []string{
			strconv.FormatInt(d.ID, 10), string(d.State), stamp(d.CreatedAt), dash(typeKeys(d.EventTypes)),
			dash(strings.Trim(d.ProjectKey+"/"+d.RepositoryKey, "/")), toChannel(d), strconv.Itoa(d.Attempts), dash(whyDelivery(d)),
		}
	})
}

type retryChannelCmd struct {
	askFlags
	Which string `help:"${which}" placeholder:"WHICH" enum:"all,recent,none" required:""`
	Test  bool   `help:"${test_channel}"`
	channelArg
}

func (c retryChannelCmd) Run(ctx context.Context, s streams) error {
	server, path, err := c.channel(ctx, c.Channel)
	if err != nil {
		return err
	}
	if c.Test {
		return c.test(ctx, s, server, path)
	}
	var done api.Retried
	if err := server.do(ctx, "POST", path+"/retry?which="+c.Which, nil, &done); err != nil {
		return err
	}
	return s.say(c.JSON, done, "%s", retriedText(&done))
}

// sayTested prints what came of a test message, which what names in errors.
func sayTested(s streams, asJSON bool, t *api.Tested, what string) error {
	switch {
	case asJSON:
		if err := printJSON(s.out, t); err != nil {
			return err
		}
	case t.Error != "":
		return fmt.Errorf("%s was not delivered: %s", what, t.Error)
	default:
		text := fmt.Sprintf("the chat platform answered %d %s", t.Status, http.StatusText(t.Status))
		if t.Opened != nil {
			text += fmt.Sprintf("; the channel is open again: %d waiting, %d cancelled", t.Opened.Waiting, t.Opened.Cancelled)
		}
		if _, err := fmt.Fprintln(s.out, text); err != nil {
			return err
		}
	}
	if t.Error != "" || t.Status < 200 || t.Status > 299 {
		return coded{code: exitFailed}
	}
	return nil
}

func (c retryChannelCmd) test(ctx context.Context, s streams, server *client, path string) error {
	var done api.Tested
	if err := server.do(ctx, "POST", path+"/test?which="+c.Which, nil, &done); err != nil {
		return err
	}
	return sayTested(s, c.JSON, &done, "the test message")
}

// retriedText says what came of a retry.
func retriedText(r *api.Retried) string {
	var text string
	switch {
	case r.Answered && r.State == "open":
		text = "The channel accepts messages again."
	case r.Answered:
		text = "The channel was tried, and still does not accept messages (" + r.State + "). " + oneLine(r.Reason)
	case r.Waiting == 0:
		text = "Nothing waits on the channel, so nothing was sent."
	default:
		text = "The channel is tried again now. The chat platform has not answered yet."
	}
	return fmt.Sprintf("%s %d waiting, %d cancelled.", strings.TrimSpace(text), r.Waiting, r.Cancelled)
}
