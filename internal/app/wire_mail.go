package app

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/config"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/admin"
	"outrigger/internal/mailqueue/api"
	"outrigger/internal/mailqueue/jmx"
	"outrigger/internal/mailqueue/pages"
	"outrigger/internal/mailqueue/postfix"
	"outrigger/internal/mailqueue/remote"
	"outrigger/internal/mailqueue/store"
	"outrigger/internal/mailqueue/watch"
)

// mail is the wing of the mail queue.
type mail struct {
	smtpRelay
	store   *store.Store
	figures *watch.Figures
}

// openMail adds the routes and pages of the wing, and tries a first sample of
// this node's queue; no mail is taken or sent yet.
func (a *App) openMail(ctx context.Context) error {
	if err := a.openRelay(ctx); err != nil {
		return err
	}
	own := a.cfg.Mail.Own()
	source, err := a.mailSource(own)
	if err != nil {
		return fmt.Errorf("mail.source: %w", err)
	}
	a.mail.store = store.New(a.db)
	a.mail.figures = watch.NewFigures(a.registry, a.clock)
	if own.Kind == config.SourceRelay {
		a.mail.figures.Count(a.nodeID, source)
	}
	service := &admin.Service{
		NodeID: a.nodeID, Clustered: a.cfg.Cluster.Enabled, Own: source, Source: own.Kind,
		Cluster: a.cluster, Store: a.mail.store, Relay: a.mail.queue,
	}
	(&api.API{Service: service, Relay: a.mail.queue, Check: a.checkSmarthost}).Register(a.router)
	deaf := ""
	if own.Kind == config.SourceRelay && a.mail.listener == nil {
		deaf = a.nodeID
	}
	(&pages.Pages{
		Service: service, Relay: a.mail.queue, Deaf: deaf, Listener: a.mailListener(), Check: a.checkSmarthost, Held: a.backup.Held,
	}).Register(a.pages)
	sampler := &watch.Sampler{
		NodeID: a.nodeID, Kind: own.Kind, Source: source, Store: a.mail.store, Figures: a.mail.figures, Log: a.log,
	}
	sampler.Start(ctx)
	a.steps.addStop("samples of the mail queue", samplesLimit, sampler.Stop)
	return nil
}

// startMail begins to take and to send mail, to watch other nodes, and to look
// after those that are gone.
func (a *App) startMail(ctx context.Context) error {
	if err := a.startRelay(ctx); err != nil {
		return err
	}
	watched, err := a.watchedNodes()
	if err != nil {
		return err
	}
	watcher := &watch.Watcher{
		Nodes: watched, Leases: a.leases, Active: a.isActive, Store: a.mail.store, Figures: a.mail.figures, Log: a.log,
	}
	if err := watcher.Start(ctx); err != nil {
		return fmt.Errorf("start to watch other nodes' mail queues: %w", err)
	}
	a.steps.addStop("watched mail queues", samplesLimit, watcher.Stop)
	reaper := &watch.NodeReaper{
		NodeID: a.nodeID, After: time.Duration(a.cfg.Mail.HandoverAfter), Cluster: a.cluster, Relay: a.mail.queue,
		Store: a.mail.store, Leases: a.leases, Now: a.db.Now, Active: a.isActive, Log: a.log,
	}
	reaper.Start(ctx)
	a.steps.addStop("mail of nodes that are gone", samplesLimit, reaper.Stop)
	return nil
}

func (a *App) isActive() bool { return a.cluster.Self().State == cluster.Active }

func (a *App) watchedNodes() ([]watch.Watched, error) {
	var list []watch.Watched
	for i := range a.cfg.Mail.Nodes {
		n := &a.cfg.Mail.Nodes[i]
		source, err := a.mailSource(n.From())
		if err != nil {
			return nil, fmt.Errorf("mail.nodes[%d]: %w", i, err)
		}
		list = append(list, watch.Watched{WatchedNode: mailqueue.WatchedNode{ID: n.NodeID, Source: n.Source}, From: source})
	}
	return list, nil
}

// mailSource makes a source of its settings.
func (a *App) mailSource(s config.MailSource) (mailqueue.Source, error) {
	out := a.outgoing.Trusted()
	switch s.Kind {
	case config.SourcePostfix:
		p := postfix.New(s.Postfix.Postqueue, s.Postfix.ConfigDir)
		a.steps.addStop("questions to Postfix", watchLimit, p.Close)
		return p, nil
	case config.SourceJMX:
		o := jmx.Options{Client: out, MailJMX: s.JMX}
		if s.JMX.Kind == config.JMXJolokia {
			return jmx.NewJolokia(o)
		}
		return jmx.NewPrometheus(o)
	case config.SourceRemote:
		return remote.New(out, s.Remote), nil
	}
	return a.mail.queue, nil
}
