package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/notify/api"
)

type channelsCmd struct {
	List       channelListCmd `cmd:"" default:"withargs" help:"List channels and their states, those in trouble first."`
	Show       channelShowCmd `cmd:"" help:"Show one channel: its state and what sends to it."`
	ReplaceURL replaceURLCmd  `cmd:"" name:"replace-url" help:"Replace a channel's webhook URL for all its rules and reports and what waits."`
}

type channelListCmd struct{ askFlags }

func (c channelListCmd) Run(ctx context.Context, s streams) error {
	header := []string{"CHANNEL", "NAME", "STATE", "NEXT TRY", "LAST SUCCESS", "WAITING", "REASON"}
	return printAll(ctx, s, c.askFlags, api.ChannelsPath, url.Values{}, header, func(one *api.Channel) []string {
		return []string{one.Channel, one.Name, one.State, stamp(one.Until), stamp(one.LastOKAt), strconv.Itoa(one.Waiting),
			dash(oneLine(one.Reason))}
	})
}

// channelArg names a channel on the command line.
type channelArg struct {
	Channel string `arg:"" help:"The channel's name, id or fingerprint, from notify channels."`
}

type channelShowCmd struct {
	askFlags
	channelArg
}

func (c channelShowCmd) Run(ctx context.Context, s streams) error {
	server, path, err := c.channel(ctx, c.Channel)
	if err != nil {
		return err
	}
	var one api.Channel
	if err := server.do(ctx, "GET", path, nil, &one); err != nil {
		return err
	}
	return printChannel(s, c.JSON, &one)
}

type replaceURLCmd struct {
	askFlags
	channelArg
	URLFile string `help:"A file that holds the new webhook URL; - is standard input." placeholder:"FILE" required:""`
	NoTest  bool   `help:"Replace it without a test message. Else nothing is changed if the chat platform does not take one."`
	Which   string `help:"${which}" placeholder:"WHICH" enum:"all,recent,none" default:"all"`
}

func (c replaceURLCmd) Run(ctx context.Context, s streams) error {
	webhookURL, err := c.read(s.in)
	if err != nil {
		return err
	}
	server, path, err := c.channel(ctx, c.Channel)
	if err != nil {
		return err
	}
	query := url.Values{"test": {strconv.FormatBool(!c.NoTest)}, "which": {c.Which}}
	var one api.Channel
	if err := server.do(ctx, "PUT", path+"?"+query.Encode(), notify.ChannelEdit{WebhookURL: webhookURL}, &one); err != nil {
		return err
	}
	return printChannel(s, c.JSON, &one)
}

// maxURLFile is more than any webhook URL has.
const maxURLFile = 16 << 10

// read returns the webhook URL from its file or from standard input.
func (c replaceURLCmd) read(in io.Reader) (string, error) {
	if c.URLFile != "-" {
		v, err := readSecret("--url-file", c.URLFile)
		return strings.TrimSpace(v.Reveal()), err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxURLFile))
	if err != nil {
		return "", fmt.Errorf("--url-file: %w", err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", usage("--url-file: standard input has no webhook URL")
	}
	return strings.TrimSpace(string(text)), nil
}

// channel returns a server to ask, and the path of the channel of a name, id or fingerprint.
func (f clientFlags) channel(ctx context.Context, name string) (server *client, path string, err error) {
	if server, err = f.client(); err != nil {
		return nil, "", err
	}
	channel, err := findChannel(ctx, server, name)
	return server, api.ChannelsPath + "/" + url.PathEscape(channel), err
}

func printChannel(s streams, asJSON bool, one *api.Channel) error {
	if asJSON {
		return printJSON(s.out, one)
	}
	return printRows(s.out, []string{"ID", "NAME", "WEBHOOK URL", "STATE", "WAITING", "RULES", "REPORTS", "OTHERS", "REASON"}, [][]string{{
		strconv.FormatInt(one.ID, 10), one.Name, one.WebhookURL, one.State, strconv.Itoa(one.Waiting), strconv.Itoa(len(one.Rules)),
		strconv.Itoa(len(one.Reports)), strconv.Itoa(one.Others), dash(oneLine(one.Reason)),
	}})
}

// findChannel returns the fingerprint of the channel of a name. What is no name of one
// is taken for an id or a fingerprint.
func findChannel(ctx context.Context, server *client, channel string) (string, error) {
	channels, err := list[api.Channel](ctx, server, api.ChannelsPath, url.Values{})
	if err != nil {
		return "", err
	}
	found, named := channel, 0
	for _, one := range channels {
		if one.Channel == channel {
			return channel, nil
		}
		if one.Name == channel {
			found = one.Channel
			named++
		}
	}
	if named > 1 {
		return "", fmt.Errorf("%d channels have the name %q; give the id or the fingerprint, from notify channels", named, channel)
	}
	return found, nil
}
