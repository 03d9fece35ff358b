package main

import (
	"context"
	"time"

	"github.com/alecthomas/kong"

	"outrigger/internal/mailqueue/api"
)

type mailFlushCmd struct {
	askFlags
	yesFlag
	selection
}

func (c mailFlushCmd) Run(ctx context.Context, s streams) error {
	return c.manage(ctx, s, c.askFlags, c.yesFlag, mailAction{"flush", "Send %d messages now?", "waiting"}, c.members())
}

// mailAction is what is done to many messages.
type mailAction struct {
	name, question string
	state          string // that of the messages that it is about; "" for both
}

// manage does something to all messages that are selected. Where they are more
// than one it asks first, with their number, and what comes later is left alone.
func (f selection) manage(ctx context.Context, s streams, ask askFlags, yes yesFlag, c mailAction, body map[string]any) error {
	if err := yes.needed(s); err != nil {
		return err
	}
	server, err := ask.client()
	if err != nil {
		return err
	}
	if !yes.Yes {
		query := f.query()
		if f.State == "" && c.state != "" {
			query.Set("state", c.state)
		}
		var now struct {
			Messages int64     `json:"messages"`
			AsOf     time.Time `json:"asOf"`
		}
		if err := server.do(ctx, "GET", api.MailPath+"/count?"+query.Encode(), nil, &now); err != nil {
			return err
		}
		if err := yes.sureOfMany(ctx, s, c.question, now.Messages); err != nil {
			return err
		}
		body["asOf"], body["count"] = now.AsOf, now.Messages
	}
	return ask.count(ctx, s, api.MailPath+"/"+c.name, body)
}

// many is one or more messages: by their numbers, by what they are, or all.
type many struct {
	selection
	All bool    `help:"Select every message."`
	IDs []int64 `arg:"" optional:"" name:"id" help:"Message ids."`
	yesFlag
}

// check wants exactly one of them.
func (m many) check() error {
	if (len(m.IDs) > 0) == (m.All || len(m.members()) > 0) {
		return usage("give message ids, or select messages by --state, --from, --to, --subject, --older-than, --node or --all")
	}
	return nil
}

type mailResendCmd struct {
	askFlags
	many
}

func (c mailResendCmd) Run(ctx context.Context, s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if len(c.IDs) > 0 {
		return c.each(ctx, s, c.askFlags, "Resend %d messages?", "POST", "/resend")
	}
	return c.manage(ctx, s, c.askFlags, c.yesFlag, mailAction{"resend", "Resend %d messages?", "error"}, c.members())
}

type mailDeleteCmd struct {
	askFlags
	many
}

func (c mailDeleteCmd) Run(ctx context.Context, s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if len(c.IDs) > 0 {
		return c.each(ctx, s, c.askFlags, "Delete %d messages?", "DELETE", "")
	}
	body := c.members()
	if c.All {
		body["all"] = true
	}
	return c.manage(ctx, s, c.askFlags, c.yesFlag, mailAction{"delete", "Delete %d messages? Recipients who have not received them will " +
		"not get them.", ""}, body)
}

// each does the same to several messages, up to the first that is refused.
func (m many) each(ctx context.Context, s streams, ask askFlags, question, method, below string) error {
	if err := m.sureOfMany(ctx, s, question, int64(len(m.IDs))); err != nil {
		return err
	}
	server, err := ask.client()
	if err != nil {
		return err
	}
	for _, id := range m.IDs {
		if err := server.do(ctx, method, messagePath(id, below), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// mailSendingCmd pauses or resumes sending, as the command is called.
type mailSendingCmd struct {
	clientFlags
	ofNode
}

func (c mailSendingCmd) Run(ctx context.Context, k *kong.Context) error {
	return c.send(ctx, "POST", api.MailPath+"/"+k.Selected().Name, c.body(), nil)
}
