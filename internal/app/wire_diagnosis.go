package app

import (
	"context"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/diagnosis"
	"outrigger/internal/identity"
)

// routeDiagnosis serves a diagnosis of this node to administrators of the system.
func (a *App) routeDiagnosis() {
	database := "SQLite"
	if a.db.Dialect() == db.Postgres {
		database = "PostgreSQL"
	}
	api := &diagnosis.API{
		Source: diagnosis.Source{
			Version: a.o.Version, Commit: a.o.Commit, Node: a.nodeID, Database: database,
			Config: a.Config, Metrics: a.registry, Log: a.o.Recent, Clock: a.clock,
		},
		Confirmed: a.identity.RequireConfirmed,
		Record: func(ctx context.Context) error {
			return a.db.Write(ctx, func(tx *db.Tx) error {
				return audit.Record(ctx, tx, identity.WithActor(ctx, audit.Entry{
					Area: "system", Action: "download", Object: "diagnosis", ObjectID: a.nodeID,
				}))
			})
		},
	}
	api.Register(a.router)
}
