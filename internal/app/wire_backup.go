package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outrigger/internal/backup"
	"outrigger/internal/backup/api"
	"outrigger/internal/backup/pages"
	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue/relay"
	notifystore "outrigger/internal/notify/store"
	"outrigger/internal/secret"
	threadstore "outrigger/internal/threads/store"
)

// heldSending is what waits, after a restore, until an administrator confirms it.
type heldSending struct {
	back   bool
	over   chan struct{} // closed when the node leaves the cluster
	starts []func(context.Context) error
}

// newBackup is what knows whether sending is held back.
func (a *App) newBackup(ctx context.Context) error {
	a.backup = backup.New(a.db, a.cfg.DataDir, a.cfg.BackupDir, pending)
	a.held.over = make(chan struct{})
	if !a.o.Hold {
		return nil
	}
	return a.backup.Hold(ctx, backup.Restored{Reason: backup.Asked, Node: a.nodeID})
}

// pending counts what waits in the database.
func pending(ctx context.Context, tx *db.Tx) (p backup.Pending, err error) {
	p.Messages, p.Channels, p.Reports, err = notifystore.Outgoing(ctx, tx)
	if err == nil {
		p.Mails, err = relay.Outgoing(ctx, tx)
	}
	if err == nil {
		p.Migration, err = threadstore.UnderWay(ctx, tx)
	}
	return p, err
}

// ErrHeld is why a process that sends cannot go on: the database was restored. One
// that is started anew holds sending back.
var ErrHeld = fault.New(fault.Conflict, "The database was restored, or marked as restored, while the server was sending.")

// openBackup finds out whether sending is held back.
func (a *App) openBackup(ctx context.Context) error {
	if err := a.backup.Tidy(); err != nil {
		return err
	}
	(&api.API{Service: a.backup, Clock: a.clock, Confirmed: a.identity.RequireConfirmed}).Register(a.router)
	(&pages.Pages{Service: a.backup, Confirmed: a.identity.RequireConfirmed}).Register(a.pages)
	if !a.backup.HeldAtFirst() {
		go func() {
			select {
			case <-a.backup.Holding():
				a.fail(ErrHeld)
			case <-a.held.over:
			}
		}()
		return nil
	}
	restored, err := a.backup.Restored(ctx)
	if err != nil {
		return err
	}
	a.held.back = true
	a.log.Warn("nothing is sent until an administrator confirms it", "reason", restored.String())
	go func() {
		select {
		case <-a.backup.Confirmed():
			a.startHeld(context.WithoutCancel(ctx))
		case <-a.held.over:
			return
		}
		select {
		case <-a.backup.Holding():
			a.fail(ErrHeld)
		case <-a.held.over:
		}
	}()
	return nil
}

// StartBackup, in place of Start, opens the database and gives what knows whether
// sending is held back, for commands that work without a server. With SQLite, a server
// with the same data folder must not run.
func (a *App) StartBackup(ctx context.Context) (*backup.Service, error) {
	err := a.startCommand(ctx, a.needDatabase, a.openDatabase, a.newBackup)
	return a.backup, err
}

// MarkRestored, in place of Start, notes that another tool has restored the database.
func (a *App) MarkRestored(ctx context.Context) error {
	service, err := a.StartBackup(ctx)
	if err == nil {
		err = service.Mark(AsCommand(ctx))
	}
	if err == nil {
		err = cluster.Forget(a.cfg.DataDir)
	}
	return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
}

// AsCommand has the audit trail name the command line, which has no signed-in user, and lets it do everything.
func AsCommand(ctx context.Context) context.Context {
	return identity.With(ctx, &identity.Principal{
		Name: "command line", Source: identity.Local, Scope: identity.All, Grants: []identity.Grant{{Permission: identity.SysAdmin}},
	})
}

// whenSending runs a start of what sends: now, or when sending may begin.
func (a *App) whenSending(ctx context.Context, start func(context.Context) error) error {
	if !a.held.back {
		return start(ctx)
	}
	a.held.starts = append(a.held.starts, start)
	return nil
}

// startHeld starts what was held back. The steps of its end come on top of all
// others.
func (a *App) startHeld(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != started {
		return
	}
	a.log.Info("sending begins: the restore is confirmed")
	for _, start := range a.held.starts {
		if err := start(ctx); err != nil {
			a.fail(fmt.Errorf("begin to send after a restore: %w", err))
			return
		}
	}
}

// Restore puts a backup in the place of the database of this configuration,
// which no server may use.
func (a *App) Restore(ctx context.Context, file string) (backup.Replaced, error) {
	if !a.cfg.DatabaseURL.IsZero() {
		return backup.Replaced{}, fault.New(fault.Conflict, "This configuration names a PostgreSQL database (database_url). Restore it with "+
			"PostgreSQL's own tools, such as pg_restore, while no node runs, then run: outrigger restore --mark")
	}
	return backup.Restore(ctx, backup.RestoreOptions{
		Dir: a.cfg.DataDir, File: file, Now: time.Now(), Migrations: migrations(),
		Prove: func(ctx context.Context, d *db.DB) error {
			key, err := secret.LoadKey(ctx, d, a.cfg.SecretKey, a.cfg.DataDir)
			if err != nil {
				return errors.Join(err, errors.New("the backup is encrypted with the key of the server that it was made on"))
			}
			_, err = secret.Open(ctx, d, key, nil)
			return err
		},
	})
}
