package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"

	"outrigger/internal/loadtest"
)

// smtpSource is Postfix's test client.
const smtpSource = "smtp-source"

const (
	// mailSessions is how many clients send at a time: as many as Postfix takes
	// in by default (default_process_limit). A busy host application has fewer.
	mailSessions = 100
	// postfixConnections is how many conversations with one server Postfix has
	// by default (default_destination_concurrency_limit); the relay's own
	// default is 8.
	postfixConnections = 20
	// mailSize is the length of a message.
	mailSize = 4096
	// firstMail are the messages of the warm-up, which tell how many a round
	// takes.
	firstMail = 500
	// mailPoll is how often a queue is asked whether it is empty: too seldom to
	// take processor time from what is measured.
	mailPoll = 20 * time.Millisecond
	// mailPatience is how long a queue may take to become empty.
	mailPatience = 5 * time.Minute
)

// mailer is a mail server under load, and what it did so far.
type mailer struct {
	addr  string
	empty func(context.Context) (bool, error) // whether its queue is
	cpu   func() (time.Duration, error)       // that it has used
	count int                                 // of messages a round

	messages int
	took     time.Duration
	used     time.Duration
}

func (m *mailer) rate() float64 { return float64(m.messages) / m.took.Seconds() }

func (m *mailer) each() time.Duration { return m.used / time.Duration(m.messages) }

// mail measures the relay against Postfix: the same client, the same sink, the
// same disk, in turn. What the client gets straight into the sink is what no
// server between them can reach.
func (b *bench) mail(ctx context.Context) error {
	if missing := mailTools(); missing != "" {
		b.row("mail", "not measured: "+missing, "")
		return nil
	}
	// Postfix's own sink takes every message and keeps none.
	sink, err := freeAddress()
	if err != nil {
		return err
	}
	if _, err := b.program(ctx, sink, "smtp-sink", "-u", "nobody", "-4", sink, "1000"); err != nil {
		return fmt.Errorf("smtp-sink: %w", err)
	}
	postfix, err := b.postfix(ctx, sink)
	if err != nil {
		return err
	}
	alike, err := b.relay(ctx, sink, postfixConnections)
	if err != nil {
		return err
	}
	usual, err := b.relay(ctx, sink, 0)
	if err != nil {
		return err
	}
	straight := &mailer{
		addr:  sink,
		empty: func(context.Context) (bool, error) { return true, nil },
		cpu:   func() (time.Duration, error) { return 0, nil }, // it is not asked for
	}
	if err := b.inTurn(ctx, straight, postfix, alike, usual); err != nil {
		return err
	}
	b.row("mail: smtp-source straight into smtp-sink", fmt.Sprintf("%.0f/s", straight.rate()), "")
	b.row(fmt.Sprintf("mail: Postfix, in and out, %d connections to the smarthost", postfixConnections),
		fmt.Sprintf("%.0f/s", postfix.rate()), "")
	b.row("mail: the relay with as many", fmt.Sprintf("%.0f/s", alike.rate()), "")
	b.row("mail: times Postfix's rate", fmt.Sprintf("%.1f", alike.rate()/postfix.rate()), "at least 8")
	b.row("mail: the relay with its default of 8", fmt.Sprintf("%.0f/s", usual.rate()), "")
	b.row("mail: times Postfix's rate", fmt.Sprintf("%.1f", usual.rate()/postfix.rate()), "")
	b.row("mail: processor time a message", fmt.Sprintf("%s, with 8 connections %s (Postfix %s)", micros(alike.each()), micros(usual.each()),
		micros(postfix.each())), "")
	return nil
}

// mailTools says what is missing to measure mail.
func mailTools() string {
	for _, name := range []string{smtpSource, "smtp-sink", "postfix"} {
		if _, err := exec.LookPath(name); err != nil {
			return name + " is not installed (apt-get install postfix)"
		}
	}
	if os.Getuid() != 0 {
		return "Postfix is started by root alone"
	}
	return ""
}

// inTurn has each mailer pass on messages for b.took altogether, a round each in
// turn.
func (b *bench) inTurn(ctx context.Context, mailers ...*mailer) error {
	for _, m := range mailers {
		m.count = firstMail
		if err := m.round(ctx); err != nil {
			return err
		}
		m.count = max(int(m.rate()*b.took.Seconds())/rounds, firstMail)
		m.messages, m.took, m.used = 0, 0, 0
	}
	for range rounds {
		for _, m := range mailers {
			if err := m.round(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// round ends when everything has been passed on.
func (m *mailer) round(ctx context.Context) error {
	before, err := m.cpu()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := sendMail(ctx, m.addr, m.count, mailSize); err != nil {
		return err
	}
	if err := m.drained(ctx); err != nil {
		return err
	}
	m.took += time.Since(began)
	after, err := m.cpu()
	m.used += after - before
	m.messages += m.count
	return err
}

func (m *mailer) drained(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, mailPatience)
	defer cancel()
	for {
		empty, err := m.empty(ctx)
		if empty || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("messages still wait after %s", mailPatience)
		case <-time.After(mailPoll):
		}
	}
}

// sendMail sends n messages over mailSessions kept sessions and returns when all
// of them were acknowledged.
func sendMail(ctx context.Context, addr string, n, size int) error {
	cmd := exec.CommandContext(ctx, smtpSource, "-d", "-s", strconv.Itoa(min(mailSessions, n)), "-m", strconv.Itoa(n),
		"-l", strconv.Itoa(size), "-f", "jira@example.com", "-t", "ada@example.org", addr)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("smtp-source: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// relay is a node that sends to the sink over so many connections; 0 is its
// default.
func (b *bench) relay(ctx context.Context, sink string, connections int) (*mailer, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p, err := b.node(ctx, loadtest.Settings{MailListen: addr, Smarthost: sink, MailConnections: connections})
	if err != nil {
		return nil, err
	}
	return &mailer{
		addr: addr,
		empty: func(ctx context.Context) (bool, error) {
			size, err := queued(ctx, p)
			return size == 0, err
		},
		cpu: func() (time.Duration, error) { return loadtest.CPU(p.PID()) },
	}, nil
}

// queued is how many messages wait at a node.
func queued(ctx context.Context, p *loadtest.Process) (int, error) {
	var status struct{ Size int }
	err := p.Ask(ctx, http.MethodGet, statusPath, nil, &status)
	return status.Size, err
}
