package settings

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/egress"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the table of the settings.
var Migrations = db.Migrations{Name: "settings", FS: migrations}

// refreshEvery has what another node saved hold here within a second, the time
// of the query included.
const refreshEvery = time.Second / 2

// Store keeps the settings in the database, and those of this node with it.
type Store struct {
	db    *db.DB
	box   *secret.Box
	log   *slog.Logger
	apply func(*Settings)
	// confirm is nil where who asks has been confirmed lately.
	confirm func(context.Context) error

	mu   sync.Mutex
	held *Settings

	work.PeriodicWorker
}

// NewStore makes a store on a migrated database. apply gets the settings that
// hold from now on, one call at a time; confirm is identity's RequireConfirmed.
func NewStore(d *db.DB, box *secret.Box, log *slog.Logger, apply func(*Settings), confirm func(context.Context) error) *Store {
	return &Store{db: d, box: box, log: log, apply: apply, confirm: confirm, held: &Settings{}}
}

// Start applies what is stored, and then what any node saves, until Stop.
func (s *Store) Start(ctx context.Context) error {
	if _, err := s.Read(ctx); err != nil {
		return err
	}
	if s.db.Dialect() == db.SQLite {
		return nil // every save is this process's own
	}
	failing := false
	s.PeriodicWorker.Start(ctx, refreshEvery, func(ctx context.Context) time.Duration {
		_, err := s.Read(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			s.log.Error("reading the settings failed; the previous ones stay in effect", "error", err)
		}
		failing = err != nil
		return refreshEvery
	})
	return nil
}

// Read returns the settings as they are stored, and has them hold on this node.
func (s *Store) Read(ctx context.Context) (*Settings, error) {
	stored, err := db.Read(ctx, s.db, func(tx *db.Tx) (*Settings, error) { return s.read(ctx, tx) })
	if err != nil {
		return nil, err
	}
	s.hold(stored)
	return stored, nil
}

// hold applies settings, unless newer ones do already.
func (s *Store) hold(stored *Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stored.Version > s.held.Version {
		if stored.Unreadable {
			s.log.Error("the stored proxy URL cannot be decrypted; requests bypass the proxy until it is entered again")
		}
		s.held = stored
		s.apply(stored)
	}
}

// place is where the proxy's URL is sealed for.
var place = [...]string{"settings", "proxy_url", "1"}

// SealedPlaces is what the key encrypts in the settings.
func SealedPlaces() []secret.Place {
	return []secret.Place{{Table: place[0], Column: place[1], Row: "CAST(id AS TEXT)"}}
}

func (s *Store) read(ctx context.Context, tx *db.Tx) (*Settings, error) {
	var stored Settings
	var sealed []byte
	if err := tx.QueryRow(ctx, `SELECT version, proxy_url, updated_by, updated_at FROM settings WHERE id = 1`).
		Scan(&stored.Version, &sealed, &stored.UpdatedBy, db.At(&stored.UpdatedAt)); err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	if sealed != nil {
		stored.Proxy = s.unseal(sealed)
		stored.Unreadable = stored.Proxy == nil
	}
	return &stored, nil
}

// unseal returns a stored proxy; nil where it cannot be read.
func (s *Store) unseal(sealed []byte) *url.URL {
	plain, err := s.box.Unseal(sealed, place[0], place[1], place[2])
	if err != nil {
		return nil
	}
	proxy, err := egress.ParseProxy(plain)
	if err != nil {
		return nil
	}
	return proxy
}
