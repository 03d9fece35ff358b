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
	"outrigger/internal/work"
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

// mail measures the relay against Postfix: the same client, the same sink, the
// same disk, in turn. What the client gets straight into the sink is what no
// server between them can reach.
func (b *bench) mail(ctx context.Context) {
	if missing := mailTools(); missing != "" {
		b.row("mail", "not measured: "+missing, "")
		return
	}
	// Postfix's own sink takes every message and keeps none.
	sink := freeAddress()
	b.program(ctx, sink, "smtp-sink", "-u", "nobody", "-4", sink, "1000")
	// The processor time of the sink itself is not asked for.
	straight := mailer(sink, func() bool { return true }, func() (time.Duration, error) { return 0, nil })
	postfix, alike, usual := b.postfix(ctx, sink), b.relay(ctx, sink, postfixConnections), b.relay(ctx, sink, 0)
	b.inTurn(ctx, straight, postfix, alike, usual)
	b.row("mail: smtp-source straight into smtp-sink", fmt.Sprintf("%.0f/s", straight.rate()), "")
	b.row(fmt.Sprintf("mail: Postfix, in and out, %d connections to the smarthost", postfixConnections),
		fmt.Sprintf("%.0f/s", postfix.rate()), "")
	b.row("mail: the relay with as many", fmt.Sprintf("%.0f/s", alike.rate()), "")
	b.row("mail: times Postfix's rate", fmt.Sprintf("%.1f", alike.rate()/postfix.rate()), "at least 8")
	b.row("mail: the relay with its default of 8", fmt.Sprintf("%.0f/s", usual.rate()), "")
	b.row("mail: times Postfix's rate", fmt.Sprintf("%.1f", usual.rate()/postfix.rate()), "")
	b.row("mail: processor time a message", fmt.Sprintf("%s, with 8 connections %s (Postfix %s)",
		micros(alike.each()), micros(usual.each()), micros(postfix.each())), "")
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

// mailer is a mail server that passes messages on until its queue is empty: as many
// as it did of those before in the time.
func mailer(addr string, empty func() bool, cpu func() (time.Duration, error)) *meter {
	rate := 0.0
	return &meter{cpu: cpu, work: func(ctx context.Context, about time.Duration) int {
		n, began := max(int(rate*about.Seconds()), firstMail), time.Now()
		sendMail(ctx, addr, n, mailSize)
		for !empty() {
			if time.Since(began) > mailPatience {
				check(fmt.Errorf("messages still wait after %s", mailPatience))
			}
			check(work.Sleep(ctx, mailPoll))
		}
		rate = float64(n) / time.Since(began).Seconds()
		return n
	}}
}

// sendMail sends n messages over mailSessions kept sessions and returns when all
// of them were acknowledged.
func sendMail(ctx context.Context, addr string, n, size int) {
	command(exec.CommandContext(ctx, smtpSource, "-d", "-s", strconv.Itoa(min(mailSessions, n)), "-m", strconv.Itoa(n),
		"-l", strconv.Itoa(size), "-f", "jira@example.com", "-t", "ada@example.org", addr))
}

// command runs one that must succeed.
func command(cmd *exec.Cmd) {
	if out, err := cmd.CombinedOutput(); err != nil {
		check(fmt.Errorf("%s: %w: %s", cmd, err, bytes.TrimSpace(out)))
	}
}

// relay is a node that sends to the sink over so many connections; 0 is its
// default.
func (b *bench) relay(ctx context.Context, sink string, connections int) *meter {
	addr := freeAddress()
	p := b.node(ctx, loadtest.Settings{MailListen: addr, Smarthost: sink, MailConnections: connections})
	return mailer(addr, func() bool { return queued(ctx, p) == 0 }, func() (time.Duration, error) { return loadtest.CPU(p.PID()) })
}

// queued is how many messages wait at a node.
func queued(ctx context.Context, p *loadtest.Process) int {
	var status struct{ Size int }
	check(p.Ask(ctx, http.MethodGet, statusPath, nil, &status))
	return status.Size
}
