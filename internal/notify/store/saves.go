package store

import (
	"context"
	"slices"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// readSaves returns the last saves of a report or connection since it was at a
// version, the oldest first, by the audit trail: fewer where that does not have them
// any more.
func readSaves(ctx context.Context, tx *db.Tx, id string, since int64, now notify.Present) ([]notify.Save, error) {
	if since <= 0 || since >= now.Version {
		return nil, nil
	}
	entries, err := audit.List(ctx, tx, audit.Visible{All: true}, audit.Filter{
		Area: "notifications", Action: "update", Object: now.What, ObjectID: id, Limit: int(min(now.Version-since, notify.MaxNamedSaves)),
	})
	saves := make([]notify.Save, len(entries))
	for i, e := range entries {
		saves[i] = notify.NewSave(e.Who, e.At, e.Before, e.After)
	}
	slices.Reverse(saves)
	return saves, err
}

// staleVersion is fault.Conflict where a report or connection is not at a version any
// more; 0 is any.
func staleVersion(ctx context.Context, tx *db.Tx, id string, version int64, now notify.Present) error {
	if version == 0 || version == now.Version {
		return nil
	}
	saves, err := readSaves(ctx, tx, id, version, now)
	if err != nil {
		return err
	}
	return notify.StaleVersion(saves, version, now)
}

// SavesSince says who saved a report, connection or channel since it was at a version, and
// what they changed. id is what the audit trail calls it.
func (s *Store) SavesSince(ctx context.Context, id string, version int64, now notify.Present) (string, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (string, error) {
		saves, err := readSaves(ctx, tx, id, version, now)
		return notify.SavesOf(saves, version, now), err
	})
}
