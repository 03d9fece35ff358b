package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"outrigger/internal/backup"
	"outrigger/internal/backup/api"
	"outrigger/internal/backup/pages"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// heldSending is what waits, after a restore, until an administrator confirms it.
type heldSending struct {
	back   bool
	starts []func(context.Context) error
}

// openBackup finds out whether this database was restored.
func (a *App) openBackup(ctx context.Context) error {
	service := backup.New(a.db, a.cfg.DataDir)
	if err := service.Tidy(); err != nil {
		return err
	}
	restored, err := service.Restored(ctx)
	if err != nil {
		return err
	}
	(&api.API{Service: service, Clock: a.clock}).Register(a.router)
	(&pages.Pages{Service: service}).Register(a.pages)
	if !restored.Held() {
		return nil
	}
	a.held.back = true
	a.log.Warn("nothing is sent: this database was restored from a backup, and an administrator must confirm that sending may begin", "file", restored.File, "restored_at", restored.At)
	over := make(chan struct{})
	go func() {
		select {
		case <-service.Confirmed():
			a.startHeld(context.WithoutCancel(ctx))
		case <-over:
		}
	}()
	a.steps.addStop("sending that is held back", watchLimit, func() { close(over) })
	return nil
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
// which no server may use. kept is what the database of before is called now.
func (a *App) Restore(ctx context.Context, file string) (kept string, err error) {
	if !a.cfg.DatabaseURL.IsZero() {
		return "", fault.New(fault.Conflict, "This configuration names a PostgreSQL database (database_url). Restore it with PostgreSQL's own tools, such as pg_restore, while no node runs.")
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
