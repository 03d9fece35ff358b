package app

import (
	"context"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/identity"
)

// setLogLevel has the log begin at a level of the setting log.level, until the next
// reload or restart.
func (a *App) setLogLevel(ctx context.Context, level string) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	before := a.Config().Log.Level
	if level == before {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reloadTime)
	defer cancel()
	if err := a.db.Write(ctx, func(tx *db.Tx) error {
		return audit.Record(ctx, tx, identity.WithActor(ctx, audit.Entry{
			Area: "system", Action: "update", Object: "log level", ObjectID: a.nodeID,
			Before: map[string]string{"level": before}, After: map[string]string{"level": level},
		}))
	}); err != nil {
		return err
	}
	a.useLogLevel(level)
	return nil
}

// useLogLevel has a level hold; a.reloading is held.
func (a *App) useLogLevel(level string) {
	next := *a.Config()
	next.Log.Level = level
	a.present.Store(&next)
	a.level.Set(LogLevel(next.Log))
}
