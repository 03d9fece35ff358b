package store

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// OfferedRenames lists what waits for an administrator's word, the oldest
// first: those with an id above after, at most limit.
func (s *Store) OfferedRenames(ctx context.Context, after int64, limit int) ([]notify.Rename, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]notify.Rename, error) {
		list, err := readRenames(ctx, tx, `state = 'offered' AND id > $1 ORDER BY id LIMIT $2`, after, limit)
		for i := 0; i < len(list) && err == nil; i++ {
			err = countObstacles(ctx, tx, &list[i])
		}
		return list, err
	})
}

// OfferedRename returns one that waits for an administrator's word. Errors:
// fault.NotFound, and fault.Conflict for one that was decided or replaced.
func (s *Store) OfferedRename(ctx context.Context, id int64) (notify.Rename, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (notify.Rename, error) { return offeredRename(ctx, tx, id) })
}

func offeredRename(ctx context.Context, tx *db.Tx, id int64) (notify.Rename, error) {
	found, err := readRenames(ctx, tx, `id = $1 AND state = 'offered'`, id)
	if err != nil {
		return notify.Rename{}, err
	}
	if len(found) == 0 {
		return notify.Rename{}, errNotOffered(ctx, tx, id)
	}
	return found[0], countObstacles(ctx, tx, &found[0])
}

// errNotOffered says why a rename is not offered, and what is in its place.
func errNotOffered(ctx context.Context, tx *db.Tx, id int64) error {
	gone, err := readRenames(ctx, tx, `id = $1`, id)
	if err != nil {
		return err
	}
	if len(gone) == 0 {
		return fault.New(fault.NotFound, "There is no rename with id %d.", id)
	}
	o := &gone[0]
	now, err := readRenames(ctx, tx, presentOffer, o.Connection, o.HookID, foldKey(o.From))
	if err != nil {
		return err
	}
	if len(now) == 0 {
		return fault.New(fault.Conflict, "The rename was confirmed, dismissed or undone on the platform in the meantime.")
	}
	return fault.New(fault.Conflict, "A later webhook reported that %s is now %s, not %s. Decide on that rename instead; its id is %d.",
		o.From, now[0].To, o.To, now[0].ID)
}

// countObstacles counts what keeps a rename from being confirmed. Where rules,
// reports and hooks have moved already, those at the new key are the rename's own.
func countObstacles(ctx context.Context, tx *db.Tx, o *notify.Rename) (err error) {
	if o.There, err = whatIsAt(ctx, tx, o.Connection, o.To, time.Time{}); o.Reason == notify.HasGrants {
		o.There = notify.Occupants{Grants: o.There.Grants}
	}
	return err
}

func readRenames(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]notify.Rename, error) {
	return db.List(ctx, tx, "reading renames", func(row db.Row) (o notify.Rename, err error) {
		err = row.Scan(&o.ID, &o.Connection, &o.HookID, &o.Hook, &o.From.ProjectKey, &o.From.RepositoryKey,
			&o.To.ProjectKey, &o.To.RepositoryKey, &o.Reason, db.At(&o.OfferedAt))
		return o, err
	}, `SELECT id, connection, hook_id, hook, from_project, from_repository, to_project, to_repository, reason, offered_at
		FROM notify_renames WHERE `+condition, args...)
}

// ConfirmRename has rules, reports, the scopes of hooks and grants go by the new key, on
// an administrator's word; only grants where the others did already. Errors as
// for OfferedRename, and fault.Conflict where something is at the new key.
func (s *Store) ConfirmRename(ctx context.Context, who notify.Actor, id int64) error {
	return s.decideRename(ctx, who, id, "confirm", func(tx *db.Tx, o *notify.Rename) error {
		if err := o.Blocked(); err != nil {
			return err
		}
		if o.Reason != notify.HasGrants {
			if err := s.move(ctx, tx, who, o.KeyChange()); err != nil {
				return err
			}
		}
		return identity.MoveGrants(ctx, tx,
			identity.Resource{Connection: o.Connection, Project: o.From.ProjectKey, Repository: o.From.RepositoryKey},
			identity.Resource{Connection: o.Connection, Project: o.To.ProjectKey, Repository: o.To.RepositoryKey})
	})
}

// DismissRename says that a rename is not to be followed; errors as for
// OfferedRename.
func (s *Store) DismissRename(ctx context.Context, who notify.Actor, id int64) error {
	return s.decideRename(ctx, who, id, "dismiss", func(*db.Tx, *notify.Rename) error { return nil })
}

func (s *Store) decideRename(
	ctx context.Context, who notify.Actor, id int64, verb string, carryOut func(*db.Tx, *notify.Rename) error,
) error {
	return s.changePlatforms(ctx, func(tx *db.Tx) error { // one at a time, and no webhook between
		o, err := offeredRename(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := carryOut(tx, &o); err != nil {
			return err
		}
		if err := tx.Do(ctx, "deciding on a rename", `UPDATE notify_renames SET state = $1, decided_by = $2, decided_at = $3 WHERE id = $4`,
			map[string]string{"confirm": "confirmed", "dismiss": "dismissed"}[verb], who.Name, db.Micros(tx.Now()), id); err != nil {
			return err
		}
		entry := who.AuditEntry(verb, "rename", fmt.Sprint(id), map[string]string{"key": o.From.String()},
			map[string]string{"key": o.To.String()})
		entry.Connection, entry.Project, entry.Repository = o.Connection, o.From.ProjectKey, o.From.RepositoryKey
		return audit.Record(ctx, tx, entry)
	})
}
