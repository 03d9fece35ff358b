package store

import (
	"context"
	"fmt"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// applyRenames has rules and hooks follow when verified events say that the platform
// renamed or moved what they are about, as far as a webhook's word goes: only
// where the hook's scope holds both keys, and nothing is at the new one yet.
// What it says beyond that is offered to an administrator.
func (s *Store) applyRenames(ctx context.Context, tx *db.Tx, items []*notify.Receipt) error {
	begun := false
	for _, r := range items {
		if !r.Written() {
			continue
		}
		for i := range r.Events {
			by, ok := r.Events[i].KeyChange()
			if !ok || !r.Verifier.MayOffer(by) {
				continue
			}
			if !begun {
				if err := s.beginPlatformsChange(ctx, tx); err != nil {
					return err
				}
				begun = true
			}
			if err := s.moveOrOffer(ctx, tx, r, by); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) moveOrOffer(ctx context.Context, tx *db.Tx, r *notify.Receipt, by notify.KeyChange) error {
	if from, ok := r.Verifier.Offers(notify.Scope(by.From)); ok { // renamed once more before anybody decided
		by.From = from
		return offer(ctx, tx, r, by, notify.OutOfScope)
	}
	there, err := whatIsAt(ctx, tx, by.Connection, notify.Scope(by.To))
	if err != nil {
		return err
	}
	here, err := whatIsAt(ctx, tx, by.Connection, notify.Scope(by.From))
	if err != nil || !here.any() {
		return err
	}
	switch {
	case !r.Verifier.Scope.Holds(notify.Scope(by.To)):
		return offer(ctx, tx, r, by, notify.OutOfScope)
	case there.any():
		return offer(ctx, tx, r, by, notify.Occupied)
	}
	platform := notify.Actor{Name: by.Connection, Source: by.Connection, Address: r.Address, RequestID: r.AnswerID}
	if err := s.move(ctx, tx, platform, by); err != nil {
		return err
	}
	if here.grants > 0 {
		return offer(ctx, tx, r, by, notify.HasGrants)
	}
	return nil
}

// occupants counts what is at a key. A project's is also what is at its
// repositories' keys.
type occupants struct{ rules, hooks, grants int }

func (p occupants) any() bool { return p.rules+p.hooks+p.grants > 0 }

func whatIsAt(ctx context.Context, tx *db.Tx, connection string, at notify.Scope) (occupants, error) {
	var p occupants
	project, repository := notify.Fold(at.ProjectKey), notify.Fold(at.RepositoryKey)
	const keys = ` WHERE connection = $1 AND project_fold = $2 AND ($3 = '' OR repository_fold = $3)`
	if err := tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM notify_rules`+keys+`), (SELECT count(*) FROM notify_hooks`+keys+`)`,
		connection, project, repository).Scan(&p.rules, &p.hooks); err != nil {
		return p, fmt.Errorf("counting what is at a key: %w", err)
	}
	var err error
	p.grants, err = identity.CountGrants(ctx, tx, identity.Resource{Connection: connection, Project: at.ProjectKey, Repository: at.RepositoryKey})
	return p, err
}

// offer keeps a rename for an administrator. A hook offers each old key once:
// the last new one counts.
func offer(ctx context.Context, tx *db.Tx, r *notify.Receipt, by notify.KeyChange, why notify.RenameReason) error {
	from := notify.Fold(by.From.ProjectKey) + "/" + notify.Fold(by.From.RepositoryKey)
	if _, err := tx.Exec(ctx, `INSERT INTO notify_renames (connection, hook_id, hook, from_project, from_repository, from_fold,
			to_project, to_repository, reason, state, offered_at, decided_by, decided_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'offered', $10, '', 0)
		ON CONFLICT (connection, hook_id, from_fold) WHERE state = 'offered' DO UPDATE SET
			to_project = excluded.to_project, to_repository = excluded.to_repository, reason = excluded.reason, offered_at = excluded.offered_at`,
		by.Connection, r.Verifier.ID, r.Verifier.Name, by.From.ProjectKey, by.From.RepositoryKey, from,
		by.To.ProjectKey, by.To.RepositoryKey, string(why), db.Micros(tx.Now())); err != nil {
		return fmt.Errorf("offering a rename: %w", err)
	}
	return nil
}

// move has rules and the scopes of hooks go by their new keys.
func (s *Store) move(ctx context.Context, tx *db.Tx, who notify.Actor, by notify.KeyChange) error {
	if err := moveRules(ctx, tx, who, by); err != nil {
		return err
	}
	hooks, err := s.readHooks(ctx, tx)
	if err != nil {
		return err
	}
	for _, h := range hooks {
		to, ok := by.Ref(notify.RepositoryRef(h.Scope))
		if !ok || h.Connection != by.Connection {
			continue
		}
		if _, err := tx.Exec(ctx, `UPDATE notify_hooks SET project_key = $1, repository_key = $2, project_fold = $3, repository_fold = $4 WHERE id = $5`,
			to.ProjectKey, to.RepositoryKey, notify.Fold(to.ProjectKey), notify.Fold(to.RepositoryKey), h.ID); err != nil {
			return fmt.Errorf("moving hook: %w", err)
		}
		after := *h
		after.Scope = notify.Scope(to)
		if err := recordHook(ctx, tx, who, "update", h, &after); err != nil {
			return err
		}
	}
	return nil
}

func moveRules(ctx context.Context, tx *db.Tx, who notify.Actor, by notify.KeyChange) error {
	rules, err := readRules(ctx, tx, `TRUE`)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if !by.Apply(r) {
			continue
		}
		before, err := readRule(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		after := before
		after.ProjectKey, after.RepositoryKey, after.Filter = r.ProjectKey, r.RepositoryKey, r.Filter
		after.Version, after.UpdatedBy, after.UpdatedAt = before.Version+1, who.Name, tx.Now()
		if err := updateRule(ctx, tx, &after.Rule); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE notify_rules SET project_key = $1, repository_key = $2, project_fold = $3, repository_fold = $4
			WHERE id = $5`, r.ProjectKey, r.RepositoryKey, notify.Fold(r.ProjectKey), notify.Fold(r.RepositoryKey), r.ID); err != nil {
			return fmt.Errorf("moving rule: %w", err)
		}
		if err := recordRule(ctx, tx, who, "update", &before, &after); err != nil {
			return err
		}
	}
	return nil
}

// OfferedRenames lists what waits for an administrator's word, the oldest
// first: those with an id above after, at most limit.
func (s *Store) OfferedRenames(ctx context.Context, after int64, limit int) (list []notify.Rename, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, err = readRenames(ctx, tx, `state = 'offered' AND id > $1 ORDER BY id LIMIT $2`, after, limit)
		return err
	})
	return list, err
}

func readRenames(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]notify.Rename, error) {
	rows, err := tx.Query(ctx, `SELECT id, connection, hook_id, hook, from_project, from_repository, to_project, to_repository, reason, offered_at
		FROM notify_renames WHERE `+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("reading renames: %w", err)
	}
	defer rows.Close()
	var list []notify.Rename
	for rows.Next() {
		var o notify.Rename
		var at int64
		if err := rows.Scan(&o.ID, &o.Connection, &o.HookID, &o.Hook, &o.From.ProjectKey, &o.From.RepositoryKey,
			&o.To.ProjectKey, &o.To.RepositoryKey, &o.Reason, &at); err != nil {
			return nil, fmt.Errorf("reading renames: %w", err)
		}
		o.OfferedAt = db.Time(at)
		list = append(list, o)
	}
	return list, rows.Err()
}

// ConfirmRename has rules, the scopes of hooks and grants go by the new key, on
// an administrator's word. Errors: fault.NotFound, and fault.Conflict for one
// that was decided already.
func (s *Store) ConfirmRename(ctx context.Context, who notify.Actor, id int64) error {
	return s.decideRename(ctx, who, id, "confirm", func(tx *db.Tx, o *notify.Rename) error {
		by := o.KeyChange()
		if err := s.move(ctx, tx, who, by); err != nil {
			return err
		}
		return identity.MoveGrants(ctx, tx,
			identity.Resource{Connection: o.Connection, Project: o.From.ProjectKey, Repository: o.From.RepositoryKey},
			identity.Resource{Connection: o.Connection, Project: o.To.ProjectKey, Repository: o.To.RepositoryKey})
	})
}

// DismissRename says that a rename is not to be followed; errors as for
// ConfirmRename.
func (s *Store) DismissRename(ctx context.Context, who notify.Actor, id int64) error {
	return s.decideRename(ctx, who, id, "dismiss", func(*db.Tx, *notify.Rename) error { return nil })
}

func (s *Store) decideRename(ctx context.Context, who notify.Actor, id int64, verb string, carryOut func(*db.Tx, *notify.Rename) error) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := s.beginPlatformsChange(ctx, tx); err != nil {
			return err
		}
		found, err := readRenames(ctx, tx, `id = $1`, id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fault.New(fault.NotFound, "There is no rename with id %d.", id)
		}
		o := &found[0]
		n, err := tx.Exec(ctx, `UPDATE notify_renames SET state = $1, decided_by = $2, decided_at = $3 WHERE id = $4 AND state = 'offered'`,
			map[string]string{"confirm": "confirmed", "dismiss": "dismissed"}[verb], who.Name, db.Micros(tx.Now()), id)
		if err != nil {
			return fmt.Errorf("deciding on a rename: %w", err)
		}
		if n == 0 {
			return fault.New(fault.Conflict, "The rename was confirmed or dismissed meanwhile.")
		}
		if err := carryOut(tx, o); err != nil {
			return err
		}
		return audit.Record(ctx, tx, audit.Entry{
			Who: who.Name, Source: who.Source, Address: who.Address, RequestID: who.RequestID,
			Area: "notifications", Action: verb, Object: "rename", ObjectID: fmt.Sprint(id),
			Connection: o.Connection, Project: o.From.ProjectKey, Repository: o.From.RepositoryKey,
			Before: map[string]string{"key": o.From.String()}, After: map[string]string{"key": o.To.String()},
		})
	})
}
