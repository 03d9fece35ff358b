package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/config"
	"outrigger/internal/egress"
	"outrigger/internal/mailqueue/relay"
	"outrigger/internal/mailqueue/relay/smtpclient"
	"outrigger/internal/mailqueue/relay/smtpd"
)

// smtpRelay is Outrigger's own relay.
type smtpRelay struct {
	listener net.Listener // nil: mail.listen is off
	queue    *relay.Queue
	server   *smtpd.Server // nil: mail.listen is off
}

// listenMail opens the relay's port, so that early connections are accepted.
func (a *App) listenMail(ctx context.Context) error {
	if a.cfg.Mail.Listen == config.MailOff {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.Mail.Listen)
	if err != nil {
		return fmt.Errorf("open the relay's listener (mail.listen; off opens none): %w", err)
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
	if a.mail.listener == nil {
		return nil
	}
	in := relay.NewIntake(a.mail.queue, relay.IntakeOptions{Hostname: hostname(), Identity: a.identity, Log: a.log})
	o := smtpd.Options{
		Hostname: hostname(), MaxMessage: int64(a.cfg.Mail.MaxMessage), MaxRecipients: a.cfg.Mail.MaxRecipients,
		MaxClients: a.cfg.Mail.MaxClients, PlainAuth: a.cfg.Mail.PlainAuth, Backend: in, Refused: in.Refused, Log: a.log,
	}
	if a.cfg.Mail.TLS.Cert != "" {
		cert, err := newCertificate(config.TLS(a.cfg.Mail.TLS), a.log)
		if err != nil {
			return err
		}
		a.certificates = append(a.certificates, cert)
		o.TLS = cert.config()
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
	smarthost, err := a.smarthost()
	if err != nil {
		return err
	}
	sender := relay.NewSender(a.mail.queue, relay.SenderOptions{
		Smarthost: smarthost, Connections: a.cfg.Mail.Connections, Recipients: a.cfg.Mail.PerTransaction,
		GiveUpAfter: time.Duration(a.cfg.Mail.GiveUpAfter), Bounces: a.cfg.Mail.Bounces,
		Members: a.cluster.Members, Log: a.log,
	})
	a.share(sender)
	err = a.whenSending(ctx, func(ctx context.Context) error {
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
		a.steps.addStop("new mail", watchLimit, a.mail.server.Refuse)
	}
	return nil
}

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
	return &smtpclient.Smarthost{
		Address: m.Smarthost, User: m.SmarthostUser, Password: m.SmarthostPassword, TLS: m.SmarthostTLS,
		Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, Hostname: hostname(),
	}, nil
}

// hostname is what the relay calls itself to clients and to the smarthost.
func hostname() string {
	name, _ := os.Hostname()
	return cmp.Or(name, "localhost")
}
