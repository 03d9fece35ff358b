package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/notify/cardhtml"
	chat "outrigger/internal/notify/message"
)

type previewCmd struct {
	Format string `help:"The message as it is sent to Teams or Slack, or an HTML page that shows it." enum:"teams,slack,html" default:"teams"`
	Type   string `arg:"" name:"eventtype" help:"The event type, such as PULL_REQUEST_OPENED."`
}

func (c previewCmd) Run(s streams) error {
	t, ok := notify.ParseEventType(c.Type)
	if !ok {
		return usage(c.Type + " is not an event type; those are " + strings.Join(notify.TypeKeys(notify.EventTypes()), ", "))
	}
	card := chat.Preview(t)
	if c.Format == "html" {
		page, err := cardhtml.Page(card, notify.Teams)
		if err != nil {
			return err
		}
		_, err = s.out.Write(page)
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, chat.Card(card, notify.Format(c.Format)), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := s.out.Write(b.Bytes())
	return err
}
