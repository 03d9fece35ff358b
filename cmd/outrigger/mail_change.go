package main

import "context"

type mailFlushCmd struct {
	askFlags
	selection
}

func (c mailFlushCmd) Run(ctx context.Context, s streams) error {
	return c.count(ctx, s, mailPath+"/flush", c.members())
}

// many is one or more messages: by their numbers, by what they are, or all.
type many struct {
	selection
	All bool    `help:"Select every message."`
	IDs []int64 `arg:"" optional:"" name:"id" help:"Message ids."`
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
		return c.each(ctx, c.IDs, "POST", "/resend")
	}
	return c.count(ctx, s, mailPath+"/resend", c.members())
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
		return c.each(ctx, c.IDs, "DELETE", "")
	}
	body := c.members()
	if c.All {
		body["all"] = true
	}
	return c.count(ctx, s, mailPath+"/delete", body)
}

// each does the same to several messages, up to the first that is refused.
func (f clientFlags) each(ctx context.Context, ids []int64, method, below string) error {
	server, err := f.client()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := server.do(ctx, method, messagePath(id, below), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

type mailPauseCmd struct {
	clientFlags
	ofNode
}

func (c mailPauseCmd) Run(ctx context.Context) error {
	return c.send(ctx, "POST", mailPath+"/pause", c.body(), nil)
}

type mailResumeCmd struct {
	clientFlags
	ofNode
}

func (c mailResumeCmd) Run(ctx context.Context) error {
	return c.send(ctx, "POST", mailPath+"/resume", c.body(), nil)
}
