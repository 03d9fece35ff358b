package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/api"
	"outrigger/internal/rest"
)

type mailCmd struct {
	Status mailStatusCmd  `cmd:"" help:"Show the mail queue of every node."`
	List   mailListCmd    `cmd:"" help:"List messages, oldest first."`
	Show   mailShowCmd    `cmd:"" help:"Show a message and its delivery attempts, or its content."`
	Flush  mailFlushCmd   `cmd:"" help:"Try waiting messages now, and end the pause after connection failures."`
	Resend mailResendCmd  `cmd:"" help:"Move messages from the error queue back to the mail queue."`
	Delete mailDeleteCmd  `cmd:"" help:"Delete messages for all their recipients."`
	Pause  mailSendingCmd `cmd:"" help:"Pause sending. New messages are still accepted and wait."`
	Resume mailSendingCmd `cmd:"" help:"Resume sending after a pause."`
	Check  mailCheckCmd   `cmd:"" help:"Connect to the smarthost, sign in, and show each step and answer."`
}

func messagePath(id int64, below string) string {
	return api.MessagesPath + "/" + strconv.FormatInt(id, 10) + below
}

// ofNode says whose queue a command is about.
type ofNode struct {
	Node string `help:"Only the queue of this node. Default: every node." placeholder:"NODE"`
}

func (f ofNode) body() map[string]string { return map[string]string{"node": f.Node} }

type mailStatusCmd struct{ askFlags }

func (c mailStatusCmd) Run(ctx context.Context, s streams) error {
	header := []string{"NODE", "SIZE", "ERRORS", "OLDEST", "SENDING"}
	return printPage(ctx, s, c.askFlags, api.MailPath, header, func(q *mailqueue.RelayQueue) []string {
		return []string{q.NodeID, strconv.FormatInt(q.Size, 10), strconv.FormatInt(q.ErrorSize, 10), stamp(q.Oldest),
			sending(q, time.Now())}
	})
}

// sending says whether the queue is sent, and why not.
func sending(q *mailqueue.RelayQueue, now time.Time) string {
	switch {
	case q.NoSmarthost:
		return "no: no smarthost is set; set mail.smarthost and restart the node"
	case q.Paused:
		return "paused"
	case q.HeldUntil.After(now):
		return "paused until " + stamp(q.HeldUntil) + ": " + q.HeldFor
	}
	return "yes"
}

// selection says which messages a command is about; each flag narrows it.
type selection struct {
	ofNode
	State     string `help:"waiting (mail queue) or error (error queue). Default: both." enum:",waiting,error" default:"" placeholder:"STATE"`
	From      string `help:"Part of the sender's address." placeholder:"ADDRESS"`
	To        string `help:"Part of a recipient's address, such as @old.example." placeholder:"ADDRESS"`
	Subject   string `help:"Part of the subject." placeholder:"TEXT"`
	OlderThan string `help:"Queued at least this long ago, such as 12h or 3d." placeholder:"AGE"`
}

// query is what the server calls it.
func (f selection) query() url.Values {
	return queryOf(map[string]string{
		"node": f.Node, "state": f.State, "sender": f.From, "recipient": f.To, "subject": f.Subject, "age": f.OlderThan,
	})
}

// members are the same in a body.
func (f selection) members() map[string]any {
	members := make(map[string]any)
	for name, values := range f.query() {
		members[name] = values[0]
	}
	return members
}

type mailListCmd struct {
	askFlags
	selection
}

func (c mailListCmd) Run(ctx context.Context, s streams) error {
	header := []string{"ID", "NODE", "STATE", "QUEUED", "SENT", "SENDER", "RECIPIENTS", "SUBJECT", "LAST ERROR"}
	return printAll(ctx, s, c.askFlags, api.MessagesPath, c.query(), header, func(m *mailqueue.Message) []string {
		return []string{
			strconv.FormatInt(m.ID, 10), m.NodeID, queuesOf(m, ","), stamp(m.QueuedAt), strconv.Itoa(m.SendCount),
			dash(m.Sender), recipientsOf(m), dash(oneLine(m.Subject)), dash(oneLine(m.LastError)),
		}
	})
}

// queuesOf lists the queues that a message counts in.
func queuesOf(m *mailqueue.Message, separator string) string {
	states := make([]string, len(m.States))
	for i, s := range m.States {
		states[i] = string(s)
	}
	return strings.Join(states, separator)
}

func recipientsOf(m *mailqueue.Message) string {
	addresses := make([]string, len(m.Recipients))
	for i, r := range m.Recipients {
		addresses[i] = r.Address
	}
	return strings.Join(addresses, ",")
}

type mailShowCmd struct {
	askFlags
	ID      int64 `arg:"" help:"The message's id, from mail list."`
	Content bool  `help:"Print the raw message; at a terminal, control characters are left out. The audit trail records that you read it."`
}

func (c mailShowCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	if c.Content {
		out := s.out
		if isTerminal(out) {
			out = &terminalText{out: out}
		}
		return server.copyTo(ctx, out, messagePath(c.ID, "/content"))
	}
	var m mailqueue.Message
	if err := server.do(ctx, "GET", messagePath(c.ID, ""), nil, &m); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, m)
	}
	return printMessage(s.out, &m)
}

// printMessage writes a message for people.
func printMessage(out io.Writer, m *mailqueue.Message) error {
	rows := [][]string{
		{"Subject", dash(oneLine(m.Subject))}, {"Sender", dash(m.Sender)}, {"State", queuesOf(m, ", ")}, {"Node", m.NodeID},
		{"Queued", stamp(m.QueuedAt)}, {"Next try", stamp(m.DueAt)}, {"Bytes", strconv.FormatInt(m.Bytes, 10)}, {"Message-ID", dash(m.MessageID)},
	}
	for _, r := range m.Recipients {
		rows = append(rows, []string{"Recipient", strings.TrimSpace(r.Address + " " + string(r.State) + " " + oneLine(r.LastError))})
	}
	for _, t := range m.Attempts {
		answer := cmp.Or(t.Error, oneLine(t.Answer)) // begins with the status
		rows = append(rows, []string{"Attempt", stamp(t.At) + " by " + t.NodeID + ": " + answer})
	}
	return printRows(out, []string{"MEMBER", "VALUE"}, rows)
}

type mailCheckCmd struct {
	askFlags
	To   string `help:"Send a test message to this address. Default: nothing is sent." placeholder:"ADDRESS"`
	From string `help:"The sender of the test message. Default: the smarthost's user, if that is an address." placeholder:"ADDRESS"`
}

func (c mailCheckCmd) Run(ctx context.Context, s streams) error {
	var got rest.List[mailqueue.CheckStep]
	if err := c.send(ctx, "POST", api.CheckPath, api.Check{To: c.To, From: c.From}, &got); err != nil {
		return err
	}
	var failed error
	rows := make([][]string, len(got.Items))
	for i, step := range got.Items {
		rows[i] = []string{step.Name, oneLine(step.Answer)}
		if step.Error != "" {
			rows[i][1], failed = "failed: "+oneLine(step.Error), errors.New("the check failed at "+step.Name)
		}
	}
	if c.JSON {
		return errors.Join(printJSON(s.out, got.Items), failed)
	}
	return errors.Join(printRows(s.out, []string{"STEP", "ANSWER"}, rows), failed)
}
