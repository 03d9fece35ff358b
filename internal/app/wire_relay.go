package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/config"
	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay"
	"outrigger/internal/mailqueue/relay/smtpclient"
	"outrigger/internal/mailqueue/relay/smtpd"
	"outrigger/internal/mailqueue/relay/token"
	"outrigger/internal/restart"
)

// smtpRelay is Outrigger's own relay.
type smtpRelay struct {
	listener  net.Listener // nil: mail.listen is off
	tls       *tls.Config  // nil: without TLS
	queue     *relay.Queue
	smarthost *smtpclient.Smarthost // nil: mail waits
	server    *smtpd.Server         // nil: mail.listen is off
}

// listenMail opens the relay's port, so that early connections are accepted.
func (a *App) listenMail(ctx context.Context) error {
	if a.cfg.Mail.Listen == config.MailOff {
		if a.o.Sockets.Has(restart.SMTP) {
			return fault.New(fault.Conflict, "A socket for SMTP was passed, but mail.listen is off. Set it to the address of the socket, or do "+
				"not pass the socket; a running server that listens for SMTP must be stopped first.")
		}
		return nil
	}
	if a.cfg.Mail.TLS.Cert != "" {
		cert, err := newCertificate("mail.tls", config.TLS(a.cfg.Mail.TLS), a.log)
		if err != nil {
			return err
		}
		a.certificates = append(a.certificates, cert)
		a.mail.tls = cert.config()
	}
	given := a.o.Sockets.Has(restart.SMTP)
	l, err := a.o.Sockets.Listen(ctx, restart.SMTP, "tcp", a.cfg.Mail.Listen)
	if err != nil {
		return fmt.Errorf("open the relay's listener (mail.listen; off opens none): %w", err)
	}
	if given && !config.ListensAt(a.cfg.Mail.Listen, l.Addr()) {
		a.sayOtherAddress("mail.listen", a.cfg.Mail.Listen, l.Addr())
	}
	a.mail.listener = l
	// The server closes it sooner where there is one.
	a.steps.addStop("relay's listener", watchLimit, func() { l.Close() })
	return nil
}

// MailAddr is where the relay listens, such as 127.0.0.1:2525; "" before Start
// and when it does not.
func (a *App) MailAddr() string {
	if a.mail.listener == nil {
		return ""
	}
	return a.mail.listener.Addr().String()
}

// mailListener is where applications on this machine or, where the relay listens
// everywhere, on others send their mail; "" where it does not listen.
func (a *App) mailListener() string {
	if a.mail.listener == nil {
		return ""
	}
	at, ok := a.mail.listener.Addr().(*net.TCPAddr)
	if base, err := url.Parse(a.URL()); ok && at.IP.IsUnspecified() && err == nil {
		return net.JoinHostPort(base.Hostname(), strconv.Itoa(at.Port))
	}
	return reachable(a.mail.listener.Addr())
}

// openRelay opens the queue and has clients wait.
func (a *App) openRelay(ctx context.Context) (err error) {
	a.mail.queue, err = relay.New(a.db, relay.Options{
		NodeID: a.nodeID, Leases: a.leases, Dir: a.cfg.DataDir, Log: a.log, Metrics: a.registry,
	})
	if err != nil {
		return err
	}
	if err := a.mail.queue.Start(ctx); err != nil {
		return err
	}
	if a.mail.smarthost, err = a.smarthost(); err != nil {
		return err
	}
	if a.mail.listener == nil {
		return nil
	}
	in := relay.NewIntake(a.mail.queue, relay.IntakeOptions{Hostname: hostname(), Identity: a.identity, Log: a.log})
	o := smtpd.Options{
		Hostname: hostname(), MaxMessage: int64(a.cfg.Mail.MaxMessage), MaxRecipients: a.cfg.Mail.MaxRecipients,
		MaxClients: a.cfg.Mail.MaxClients, PlainAuth: a.cfg.Mail.PlainAuth, TLS: a.mail.tls, Backend: in, Refused: in.Refused, Log: a.log,
	}
	a.mail.server = smtpd.New(o)
	go func() {
		if err := a.mail.server.Serve(a.mail.listener); err != nil && !errors.Is(err, net.ErrClosed) {
			a.fail(fmt.Errorf("the relay's listener ended: %w", err))
		}
	}()
	a.steps.add("mail clients", mailClientsLimit, a.mail.server.Shutdown)
	a.share(mailDoor{a.mail.server, a.cluster})
	return nil
}

// mailDoor opens and closes the relay with the node's state. A node is not
// PASSIVE while a message comes in.
type mailDoor struct {
	server *smtpd.Server
	node   *cluster.Cluster
}

func (d mailDoor) Held() int { return d.server.Receiving() }

func (d mailDoor) Wake() {
	switch d.node.Self().State {
	case cluster.Active:
		d.server.Open()
	case cluster.Passivating, cluster.Passive:
		d.server.Refuse()
	}
}

// startRelay begins to send. Mail is taken since the node became ACTIVE.
func (a *App) startRelay(ctx context.Context) error {
	sender := relay.NewSender(a.mail.queue, relay.SenderOptions{
		Smarthost: a.mail.smarthost, Connections: a.cfg.Mail.Connections, Recipients: a.cfg.Mail.PerTransaction,
		GiveUpAfter: time.Duration(a.cfg.Mail.GiveUpAfter), Bounces: a.cfg.Mail.Bounces, Limits: a.mailLimits(),
		Members: a.cluster.Members, Log: a.log,
	})
	a.share(sender)
	err := a.whenSending(ctx, func(ctx context.Context) error {
		if err := sender.Start(ctx); err != nil {
			return fmt.Errorf("start to send mail: %w", err)
		}
		a.endTogether(sender.Stop)
		return nil
	})
	if err != nil {
		return err
	}
	if a.mail.server != nil {
		a.endTogether(a.finishMail)
		a.steps.addStop("new mail", watchLimit, a.refuseMail)
	}
	return nil
}

// refuseMail has a stop begin with refusing mail, unless others accept clients
// afterwards.
func (a *App) refuseMail() {
	if !a.o.Sockets.Kept() {
		a.mail.server.Refuse()
	}
}

// finishMail has clients that are there say what they came for, where others
// accept those that come later.
func (a *App) finishMail() {
	if a.o.Sockets.Kept() {
		a.mail.server.Finish(mailFinishTime)
	}
}

// mailFinishTime is within the share that a hand-over has of sendingLimit.
const mailFinishTime = time.Second

// smarthost is where all mail goes; nil where none is configured.
func (a *App) smarthost() (*smtpclient.Smarthost, error) {
	m := &a.cfg.Mail
	if m.Smarthost == "" {
		return nil, nil
	}
	roots, err := egress.Roots(a.cfg.CAFile)
	if err != nil {
		return nil, err
	}
	h := &smtpclient.Smarthost{
		Address: m.Smarthost, User: m.SmarthostUser, Password: m.SmarthostPassword, TLS: m.SmarthostTLS,
		Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, Hostname: hostname(),
	}
	if m.OAuth.On() {
		tokens, err := a.tokens()
		if err != nil {
			return nil, err
		}
		h.Token, h.Refused = tokens.Token, tokens.Refused
	}
	return h, nil
}

// tokens are what the smarthost is signed in to with.
func (a *App) tokens() (*token.Source, error) {
	m := &a.cfg.Mail
	o := token.Options{
		MailOAuth: m.OAuth, User: m.SmarthostUser,
		Client: a.outgoing.Trusted(), DB: a.db, Box: a.box, Leases: a.leases, Log: a.log,
	}
	if !m.OAuth.ClientKey.IsZero() {
		var err error
		if o.Key, o.Certificate, err = m.OAuth.Key(); err != nil {
			return nil, fmt.Errorf("mail.oauth.client_key: %w", err)
		}
	}
	return token.New(o), nil
}

// mailLimits are those of the sign-in to the smarthost.
func (a *App) mailLimits() (l relay.Limits) {
	m := &a.cfg.Mail
	if m.Provider != "" || m.Rate > 0 || m.Quota > 0 {
		l = relay.Limits{SignIn: m.Smarthost + " " + m.SmarthostUser, Provider: m.Provider, Rate: m.Rate, Quota: m.Quota}
	}
	if m.Provider != "" {
		l.Connections = m.Connections
	}
	return l
}

// checkSmarthost is mailqueue.Check.
func (a *App) checkSmarthost(ctx context.Context, from, to string) ([]mailqueue.CheckStep, error) {
	if a.mail.smarthost == nil {
		return nil, fault.New(fault.Conflict, "No smarthost is set. Set mail.smarthost and restart.")
	}
	return a.mail.smarthost.Check(ctx, from, to)
}

// hostname is what the relay calls itself to clients and to the smarthost.
func hostname() string {
	name, _ := os.Hostname()
	return cmp.Or(name, "localhost")
}
