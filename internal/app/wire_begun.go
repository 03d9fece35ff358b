package app

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
)

// begunShown is how long the overview says at most that a new database was begun:
// who has signed in is not known for longer than the audit trail is kept.
const begunShown = 30 * 24 * time.Hour

// databasePlace is where the database is, without credentials.
func (a *App) databasePlace() string {
	if a.cfg.DatabaseURL.IsZero() {
		if dir, err := filepath.Abs(a.cfg.DataDir); err == nil {
			return "the data folder " + dir
		}
		return "the data folder " + a.cfg.DataDir
	}
	if u, err := url.Parse(a.cfg.DatabaseURL.Reveal()); err == nil {
		return "the PostgreSQL database " + u.Host + u.Path
	}
	return "the PostgreSQL database of database_url"
}

// begunPlace is where a new database is created without a request for one.
func (a *App) begunPlace() string {
	if a.o.NewDatabase {
		return ""
	}
	return a.databasePlace()
}

// sayBegun warns where this start has made a database that may not be the expected
// one.
func (a *App) sayBegun(ctx context.Context) error {
	at, place, err := a.cluster.Begun(ctx)
	if err == nil && place != "" && at.Equal(a.cluster.Self().StartedAt) {
		a.log.Warn("there was no database: a new one, with nothing in it, was begun; serve --existing-database refuses that", "in", place)
	}
	return err
}

// overviewBegun says where a new database was begun, to the one who signs in first.
func (a *App) overviewBegun(ctx context.Context, p *identity.Principal) ([]console.Card, error) {
	if !p.May(identity.SysAdmin, identity.Resource{}) {
		return nil, nil
	}
	at, place, err := a.cluster.Begun(ctx)
	if err != nil || place == "" || a.clock().Sub(at) > begunShown {
		return nil, err
	}
	var signIns int
	err = a.db.Get(ctx, "counting sign-ins", []any{&signIns}, `SELECT COUNT(*) FROM (
		SELECT 1 FROM audit_entries WHERE area = 'identity' AND action = 'sign in' LIMIT 2) AS sign_ins`)
	if err != nil || signIns > 1 {
		return nil, err
	}
	return []console.Card{{Title: "Database", Link: "/system/backup", Text: "New.", Attention: []console.Notice{{Kind: "new_database",
		Text: "A new, empty database was begun in " + place + ". If there should be an earlier one, stop the server and restore it, or " +
			"mount its folder.", Since: at,
	}}}}, nil
}
