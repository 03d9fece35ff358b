package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Restored is how this database came to be, where it was restored from a backup.
type Restored struct {
	File        string // its name, without folders
	At          time.Time
	ConfirmedBy string // "" while sending is held back
	ConfirmedAt time.Time
}

// Held tells whether sending is held back.
func (r *Restored) Held() bool { return r != nil && r.ConfirmedAt.IsZero() }

// Restored gives the last restore of this database; nil where there was none.
func (s *Service) Restored(ctx context.Context) (r *Restored, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		r, err = read(ctx, tx)
		return err
	})
	return r, err
}

func read(ctx context.Context, tx *db.Tx) (*Restored, error) {
	var r Restored
	var at, confirmed int64
	err := tx.QueryRow(ctx, `SELECT file, restored_at, confirmed_by, confirmed_at FROM backup_restored WHERE id = 1`).
		Scan(&r.File, &at, &r.ConfirmedBy, &confirmed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading whether the database was restored: %w", err)
	}
	r.At, r.ConfirmedAt = db.Time(at), db.Time(confirmed)
	return &r, nil
}

// Confirm lets sending begin after a restore, on the word of a SYS_ADMIN.
// fault.Conflict where nothing is held back.
func (s *Service) Confirm(ctx context.Context) error {
	if err := identity.Require(ctx, identity.SysAdmin, identity.Resource{}); err != nil {
		return err
	}
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		r, err := read(ctx, tx)
		switch {
		case err != nil:
			return err
		case !r.Held():
			return fault.New(fault.Conflict, "There is no restore to confirm; the server is sending.")
		}
		who := ""
		if p := identity.From(ctx); p != nil {
			who = p.Name
		}
		if _, err := tx.Exec(ctx, `UPDATE backup_restored SET confirmed_by = $1, confirmed_at = $2 WHERE id = 1`, who, db.Micros(tx.Now())); err != nil {
			return fmt.Errorf("confirming the restore: %w", err)
		}
		return recordIn(ctx, tx, "confirm", "restore", map[string]string{"file": r.File, "restoredAt": r.At.Format(time.RFC3339)})
	})
	if err != nil {
		return err
	}
	s.once.Do(func() { close(s.confirmed) })
	return nil
}

// Confirmed is closed when Confirm has let sending begin on this node.
func (s *Service) Confirmed() <-chan struct{} { return s.confirmed }

func (s *Service) record(ctx context.Context, action, object string, after map[string]string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error { return recordIn(ctx, tx, action, object, after) })
}

func recordIn(ctx context.Context, tx *db.Tx, action, object string, after map[string]string) error {
	return audit.Record(ctx, tx, identity.WithActor(ctx, audit.Entry{Area: "system", Action: action, Object: object, After: after}))
}
