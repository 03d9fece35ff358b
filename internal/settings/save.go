package settings

import (
	"context"
	"strings"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Draft is the settings that a user wants to save.
type Draft struct {
	ProxyURL string // "" for none; a masked password keeps the stored one
	Version  int64  // of the settings that were read; 0: whatever they are
}

// Save stores a draft as the user of ctx, and returns the settings as they are
// now. They hold on this node when it returns. A draft that changes nothing is
// no save. wrong is what the caller has found in the members already: all of it is
// named together.
//
// Errors: fault.Forbidden for who is no SYS_ADMIN, or has not been confirmed
// lately: who sets the proxy sees what goes through it. fault.Invalid for a URL that is no proxy's, fault.Conflict for a
// version that is not the present one.
func (s *Store) Save(ctx context.Context, draft Draft, wrong fault.Fields) (*Settings, error) {
	if err := s.confirmed(ctx); err != nil {
		return nil, err
	}
	var saved *Settings
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		// First of all, so that two nodes do not both read what they then replace.
		if err := tx.Do(ctx, "locking the settings", `UPDATE settings SET version = version WHERE id = 1`); err != nil {
			return err
		}
		before, err := s.read(ctx, tx)
		if err != nil {
			return err
		}
		saved, err = s.save(ctx, tx, before, draft, wrong)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.hold(saved)
	return saved, nil
}

// confirmed is nil for a SYS_ADMIN who has been confirmed lately.
func (s *Store) confirmed(ctx context.Context) error {
	if err := identity.Require(ctx, identity.SysAdmin, identity.Resource{}); err != nil {
		return err
	}
	return s.confirm(ctx)
}

func (s *Store) save(ctx context.Context, tx *db.Tx, before *Settings, draft Draft, wrong fault.Fields) (*Settings, error) {
	if draft.Version != 0 && draft.Version != before.Version {
		return nil, fault.New(fault.Conflict, "%s saved the settings in the meantime; they are at version %d. "+
			"Reload them and repeat your change.", before.UpdatedBy, before.Version)
	}
	proxy, err := before.readProxy(strings.TrimSpace(draft.ProxyURL))
	if err := fault.Every(wrong.Err(), err); err != nil {
		return nil, err
	}
	after := &Settings{Proxy: proxy, Version: before.Version + 1, UpdatedAt: tx.Now()}
	if plain(before) == plain(after) && !before.Unreadable {
		return before, nil
	}
	if p := identity.From(ctx); p != nil {
		after.UpdatedBy = p.Name
	}
	var sealed []byte
	if proxy != nil {
		sealed = s.box.Seal(plain(after), place[0], place[1], place[2])
	}
	if err := tx.Do(ctx, "storing the settings",
		`UPDATE settings SET version = $1, proxy_url = $2, updated_by = $3, updated_at = $4 WHERE id = 1`,
		after.Version, sealed, after.UpdatedBy, db.Micros(after.UpdatedAt)); err != nil {
		return nil, err
	}
	return after, record(ctx, tx, before, after)
}

// plain is the proxy's URL as it is, password and all.
func plain(s *Settings) string {
	if s.Proxy == nil {
		return ""
	}
	return s.Proxy.String()
}

func record(ctx context.Context, tx *db.Tx, before, after *Settings) error {
	e := identity.WithActor(ctx, audit.Entry{
		Area: "notifications", Action: "update", Object: "settings",
		Before: map[string]string{"proxyUrl": before.ProxyURL()}, After: map[string]string{"proxyUrl": after.ProxyURL()},
	})
	if before.ProxyURL() == after.ProxyURL() {
		e.After["password"] = "changed"
	}
	return audit.Record(ctx, tx, e)
}
