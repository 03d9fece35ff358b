package app

import (
	"context"
	"fmt"
	"os"
	"time"

	"outrigger/internal/alerts"
	"outrigger/internal/audit"
	"outrigger/internal/backup"
	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue/relay"
	mailstore "outrigger/internal/mailqueue/store"
	notifystore "outrigger/internal/notify/store"
	"outrigger/internal/secret"
	adminsettings "outrigger/internal/settings"
	threadstore "outrigger/internal/threads/store"
)

// ground has what all wings build on.
type ground struct {
	nodeID   string
	db       *db.DB
	box      *secret.Box
	identity *identity.Service
	backup   *backup.Service
	cluster  *cluster.Cluster
	leases   *db.Leases
	outgoing *egress.Client
	settings *adminsettings.Store
}

// migrations lists the schemas of all parts, each after those that it needs.
func migrations() []db.Migrations {
	return []db.Migrations{
		secret.Migrations, audit.Migrations, alerts.Migrations, backup.Migrations, adminsettings.Migrations, identity.Migrations,
		cluster.Migrations, notifystore.Migrations, relay.Migrations, mailstore.Migrations, threadstore.Migrations,
	}
}

// openDatabase opens the database, takes the place of this node in it and
// brings its schema up to date.
func (a *App) openDatabase(ctx context.Context) error {
	if err := a.nameNode(); err != nil {
		return err
	}
	if err := a.expectDatabase(); err != nil {
		return err
	}
	// Passwords and the key are in the folder: it is for its owner only.
	if err := os.MkdirAll(a.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	d, err := db.Open(ctx, db.Options{
		URL: a.cfg.DatabaseURL.Reveal(), Dir: a.cfg.DataDir, NodeID: a.nodeID, Alone: !a.cfg.Cluster.Enabled,
		Log: a.log, Metrics: a.registry, Clock: a.clock, Full: a.awaitsRoom(),
	})
	if err != nil {
		return err
	}
	a.db = d
	a.steps.add("database", databaseLimit, func(context.Context) error {
		err := d.Close()
		a.databaseFree.Store(err == nil)
		return err
	})
	a.steps.add("requests", requestsLimit, a.finishRequests)
	a.checks = append(a.checks, d.Ping)
	a.watchDatabase(d)
	if err := a.expectSchema(ctx); err != nil {
		return err
	}
	return d.Migrate(ctx, migrations()...)
}

// awaitsRoom returns what is called while a start waits because the disk is full: it has
// requests answered with the reason.
func (a *App) awaitsRoom() func(error) {
	if a.addr == nil {
		return nil // a command, which has nothing to answer
	}
	said := false
	return func(why error) {
		a.startupGate.waits(fault.As(why).Message)
		if !said {
			a.log.Error("the start waits for free space", "error", why)
		}
		said = true
	}
}

// expectDatabase refuses to make an empty database beside what is left of another,
// and where one is expected.
func (a *App) expectDatabase() error {
	if !a.cfg.DatabaseURL.IsZero() || a.o.NewDatabase {
		return nil
	}
	exists, err := db.Exists(a.cfg.DataDir)
	if err != nil || exists {
		return err
	}
	if a.o.ExistingDatabase {
		return fault.New(fault.Conflict, "There is no database in the data folder %s, and --existing-database expects one. "+
			"Check that the folder is mounted. To create a new database, start once without --existing-database.", a.cfg.DataDir)
	}
	keyed, err := secret.HasKeyFile(a.cfg.DataDir)
	if err != nil {
		return err
	}
	noted, err := cluster.HasNote(a.cfg.DataDir)
	if err != nil {
		return err
	}
	what := "a secret.key"
	switch {
	case !keyed && !noted:
		return nil
	case !keyed:
		what = "a note of the database that it was used with"
	}
	return fault.New(fault.Conflict, "The data folder %s has %s, but the database outrigger.db that it belongs to is missing or empty. "+
		"Restore the database, for example from a backup. To start with a new, empty database, run once: outrigger serve --new-database",
		a.cfg.DataDir, what)
}

// expectSchema refuses to begin in an empty PostgreSQL database where one of Outrigger
// is expected.
func (a *App) expectSchema(ctx context.Context) error {
	if !a.o.ExistingDatabase {
		return nil
	}
	begun, err := a.db.HasSchema(ctx)
	if err != nil || begun {
		return err
	}
	return fault.New(fault.Conflict, "There is nothing in %s, and --existing-database expects a database of Outrigger there. "+
		"To begin a new one, start once without --existing-database.", a.databasePlace())
}

// watchDatabase fails the process when another one has taken its place in the
// database, or the disk failed.
func (a *App) watchDatabase(d *db.DB) {
	over := make(chan struct{})
	go func() {
		select {
		case <-d.Lost():
			a.fail(fault.New(fault.Conflict, "Another process has taken over the id of node %s in the database.", a.nodeID))
		case err := <-d.Failed():
			a.fail(err)
		case <-over:
		}
	}()
	a.steps.addStop("watch over the database", watchLimit, func() { close(over) })
}

// nameNode sets the node's id: the setting node_id, or the name of the host.
func (a *App) nameNode() error {
	if a.nodeID != "" {
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("find the host name, for want of node_id: %w", err)
	}
	a.nodeID = host
	return nil
}

// openSecrets loads the key and proves that the database was encrypted with it.
func (a *App) openSecrets(ctx context.Context) error {
	key, err := secret.LoadKey(ctx, a.db, a.cfg.SecretKey, a.cfg.DataDir)
	if err != nil {
		return err
	}
	previous, err := secret.LoadPrevious(a.cfg.PreviousKey, a.cfg.DataDir)
	if err != nil {
		return err
	}
	a.box, err = secret.Open(ctx, a.db, key, previous)
	return err
}

// startIdentity opens the users, and makes the first administrator where there is none.
func (a *App) startIdentity(ctx context.Context) error {
	a.identity = identity.New(a.db, identity.Options{
		Clock: a.clock, Log: a.log, DataDir: a.cfg.DataDir, AdminPassword: a.cfg.AdminPassword, Box: a.box,
		PasswordCost: a.o.PasswordCost,
	})
	o := a.cfg.Identity.OIDC
	if o.On() && o.GroupsClaim != "" {
		a.identity.UseGroups(a.singleSignOnSource(), o.AdminGroups)
	}
	if o.On() && o.Idle > 0 {
		a.identity.UseIdle(a.singleSignOnSource(), time.Duration(o.Idle))
	}
	return a.identity.Start(ctx)
}

func (a *App) startLeases(ctx context.Context) error {
	a.leases = db.NewLeases(a.db, a.nodeID, a.log)
	if err := a.leases.Start(ctx); err != nil {
		return fmt.Errorf("take over the leases: %w", err)
	}
	a.steps.addStop("leases", leasesLimit, a.leases.Stop)
	return nil
}
