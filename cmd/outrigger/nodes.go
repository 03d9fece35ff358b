package main

import (
	"context"
	"net/url"
	"strconv"

	"github.com/alecthomas/kong"

	"outrigger/internal/mailqueue/api"
)

type nodesCmd struct {
	List     nodeListCmd     `cmd:"" help:"List the nodes with their states and mail queues."`
	Drain    nodeStateCmd    `cmd:"" help:"Let a node finish what it is sending and accept nothing new."`
	Resume   nodeStateCmd    `cmd:"" help:"Put a drained node back to work."`
	Remove   nodeRemoveCmd   `cmd:"" help:"Remove an OFFLINE node. Its messages move to the node that answers this request."`
	Handover nodeHandoverCmd `cmd:"" help:"Move the messages of an OFFLINE or PASSIVE node to another node."`
}

func nodePath(id, below string) string { return api.NodesPath + "/" + url.PathEscape(id) + below }

// askFlags are those of commands that ask a server for something to print.
type askFlags struct {
	clientFlags
	JSON bool `help:"Print JSON."`
}

type nodeListCmd struct{ askFlags }

func (c nodeListCmd) Run(ctx context.Context, s streams) error {
	header := []string{"NODE", "STATE", "SOURCE", "SIZE", "ERRORS", "UPDATED", "VERDICT", "PROBLEM"}
	return printPage(ctx, s, c.askFlags, api.NodesPath, header, func(n *api.ClusterNode) []string {
		updated := "never"
		if !n.SampledAt.IsZero() {
			updated = stamp(n.SampledAt)
		}
		return []string{
			n.NodeID, string(n.State), dash(n.Source), strconv.FormatInt(n.MailQueue.Size, 10), strconv.FormatInt(n.MailQueue.ErrorSize, 10),
			updated, string(n.Verdict), dash(n.SampleError),
		}
	})
}

// aboutNode belongs to commands about one node.
type aboutNode struct {
	clientFlags
	Node string `arg:"" help:"The node's id."`
}

// nodeStateCmd drains or resumes a node, as the command is called.
type nodeStateCmd struct{ aboutNode }

func (c nodeStateCmd) Run(ctx context.Context, k *kong.Context) error {
	return c.send(ctx, "POST", nodePath(c.Node, "/"+k.Selected().Name), nil, nil)
}

type nodeRemoveCmd struct{ aboutNode }

func (c nodeRemoveCmd) Run(ctx context.Context) error {
	return c.send(ctx, "DELETE", nodePath(c.Node, ""), nil, nil)
}

type nodeHandoverCmd struct {
	askFlags
	Node string `arg:"" help:"The node to take the messages from."`
	To   string `help:"The node that takes the messages. Default: the one that answers this request." placeholder:"NODE"`
}

func (c nodeHandoverCmd) Run(ctx context.Context, s streams) error {
	return c.count(ctx, s, nodePath(c.Node, "/handover"), map[string]string{"to": c.To})
}

// send sends a request as the flags say.
func (f clientFlags) send(ctx context.Context, method, path string, in, out any) error {
	server, err := f.client()
	if err != nil {
		return err
	}
	return server.do(ctx, method, path, in, out)
}

// count posts what is done to messages and prints to how many.
func (f askFlags) count(ctx context.Context, s streams, path string, in any) error {
	var did struct {
		Messages int64 `json:"messages"`
	}
	if err := f.send(ctx, "POST", path, in, &did); err != nil {
		return err
	}
	return s.say(f.JSON, did, "%d", did.Messages)
}
