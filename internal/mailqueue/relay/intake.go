package relay

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue/relay/smtpd"
)

// largeAtOnce bounds the messages above 64 KiB that are committed at the same
// time, each of which is in memory as a whole then.
const largeAtOnce = 2

var (
	replyUnknown = &smtpd.Reply{
		Code: 535, Enhanced: "5.7.8", Text: "The user name or token is wrong, or the token does not have the scope mail.",
	}
	replySlowDown = &smtpd.Reply{Code: 454, Enhanced: "4.7.0", Text: "Too many failed sign-ins; try again later."}
	replyLoop     = &smtpd.Reply{Code: 554, Enhanced: "5.4.6", Text: "Mail loop: the message has more than 50 Received: lines."}
	replyNoRoom   = &smtpd.Reply{Code: 452, Enhanced: "4.3.1", Text: "Insufficient storage; try again later."}
	replyNotKept  = &smtpd.Reply{Code: 451, Enhanced: "4.3.0", Text: "The message could not be stored; try again later."}
)

// IntakeOptions say what an Intake needs.
type IntakeOptions struct {
	Hostname string                 // for Received: lines
	Identity identity.Authenticator // who may sign in; nil: AUTH is not offered
	Log      *slog.Logger           // nil: nothing is logged
}

// Intake puts the messages that come in by SMTP into the queue.
type Intake struct {
	o     IntakeOptions
	queue *Queue
	large chan struct{}
}

var _ smtpd.Backend = (*Intake)(nil)

// NewIntake makes an intake that fills q.
func NewIntake(q *Queue, o IntakeOptions) *Intake {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Intake{o: o, queue: q, large: make(chan struct{}, largeAtOnce)}
}

// Refused counts a reply with that code.
func (in *Intake) Refused(code int) {
	in.queue.metrics.refused.WithLabelValues(strconv.Itoa(code)).Inc()
}

// SignIn is for tokens of scope mail, and those of scope all of who has ADMIN. A
// password is none.
func (in *Intake) SignIn(ctx context.Context, user, token, address string) (string, error) {
	if in.o.Identity == nil || user == "" || token == "" {
		return "", replyUnknown
	}
	p, err := in.o.Identity.Basic(ctx, user, token, address)
	switch {
	case fault.Is(err, fault.RateLimited):
		return "", replySlowDown
	case fault.Is(err, fault.Unauthenticated), fault.Is(err, fault.Forbidden):
		return "", replyUnknown
	case err != nil:
		return "", err
	case p.Token == 0:
	case p.Scope == identity.Mail, p.Scope == identity.All && p.May(identity.Admin, identity.Resource{}):
		return p.Name, nil
	}
	return "", replyUnknown
}

// Receive begins a message.
func (in *Intake) Receive(env smtpd.Envelope) smtpd.Message {
	return &incoming{intake: in, env: env, spool: in.queue.codec.spool(in.queue.o.Dir)}
}

// incoming is a message as it comes in.
type incoming struct {
	intake *Intake
	env    smtpd.Envelope
	spool  *spool
	head   inspector
}

func (m *incoming) Write(p []byte) (int, error) {
	m.head.Write(p)
	if _, err := m.spool.Write(p); err != nil {
		return 0, m.intake.refused(err)
	}
	return len(p), nil
}

func (m *incoming) Close() { m.spool.close() }

func (m *incoming) Commit(open bool) (string, error) {
	m.head.close()
	if m.head.received > maxReceived {
		return "", replyLoop
	}
	id, err := m.store(open)
	if err != nil {
		return "", m.intake.refused(err)
	}
	m.intake.queue.metrics.received.Inc()
	return "Queued as " + strconv.FormatInt(id, 10) + ".", nil
}

func (m *incoming) store(open bool) (int64, error) {
	in := m.intake
	if m.spool.large() {
		in.large <- struct{}{}
		defer func() { <-in.large }()
	}
	body, pieces, err := m.spool.finish()
	if err != nil {
		return 0, fault.Wrap(err, fault.Unavailable, "The message could not be written.")
	}
	to := make(recipients, len(m.env.Recipients))
	for i, address := range m.env.Recipients {
		to[i].Address = address
	}
	a := &arrival{
		job: job{
			sender: m.env.Sender, trace: m.trace(), size: m.spool.size, eightBit: m.head.eightBit,
			utf8: m.env.UTF8 && m.needsUTF8(), openEnd: open, recipients: to,
			turn: to.due(time.Time{}), body: body,
		},
		subject: m.head.subject, messageID: m.head.messageID, pieces: pieces,
	}
	if pieces == nil {
		a.plain = bytes.Clone(m.spool.raw)
	}
	err = in.queue.accept(context.Background(), a)
	return a.id, err
}

// needsUTF8 reports whether a message can only go where SMTPUTF8 is offered. Some
// clients say SMTPUTF8 of every message.
func (m *incoming) needsUTF8() bool {
	need := m.head.utf8 || hasEightBit([]byte(m.env.Sender))
	for _, address := range m.env.Recipients {
		need = need || hasEightBit([]byte(address))
	}
	return need
}

// refused turns what kept a message from being stored into a reply.
func (in *Intake) refused(err error) error {
	in.o.Log.Error("a message was refused because it could not be stored", "error", err)
	if db.IsFull(err) {
		return replyNoRoom
	}
	return replyNotKept
}

// trace is the Received: line up to the id of the message: RFC 5321, 4.4, with
// the protocol's names of RFC 3848 and RFC 6531, 4.3.
func (m *incoming) trace() string {
	with := "SMTP"
	switch {
	case m.env.UTF8:
		with = "UTF8SMTP"
	case m.env.Extended:
		with = "ESMTP"
	}
	if m.env.TLS {
		with += "S"
	}
	if m.env.User != "" {
		with += "A"
	}
	address := m.env.Address
	if strings.Contains(address, ":") {
		address = "IPv6:" + address
	}
	return "Received: from " + token(m.env.Hello) + " ([" + address + "])\r\n\tby " + token(m.intake.o.Hostname) + " (Outrigger) with " + with
}

// maxName is how much of what a client calls itself a Received: line has.
const maxName = 254

// token makes a name fit for a Received: line: what is not plain ASCII in a
// client's greeting is replaced.
func token(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || strings.ContainsRune("()<>;,\"\\", r) {
			return '?'
		}
		return r
	}, s)
	if s == "" {
		return "unknown"
	}
	return s[:min(len(s), maxName)]
}
