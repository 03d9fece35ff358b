package store

import (
	"cmp"
	"context"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// newHookSecret has as many random bytes as the HMAC has, and fits the 128
// characters that platforms take.
func newHookSecret() secret.Value { return secret.New(secret.Random(32)) }

// maxHooks is how many hooks of one scope a connection may have: one for each
// sender, and a bound for those who administer one repository, since every node
// keeps all hooks in memory.
const maxHooks = 20

// CreateHook makes a hook with a secret of its own, which later answers do not
// have. Errors: fault.Invalid, fault.NotFound for an unknown connection,
// fault.Conflict where the name is taken or the scope has maxHooks.
func (s *Store) CreateHook(ctx context.Context, who notify.Actor, h notify.Hook) (notify.Hook, error) {
	if err := h.Validate(); err != nil {
		return h, err
	}
	h.Secret = newHookSecret()
	err := s.changePlatforms(ctx, func(tx *db.Tx) error {
		now, err := s.load(ctx, tx)
		if err != nil {
			return err
		}
		if now.Platforms.Connections.Find(h.Connection) == nil {
			return fault.New(fault.NotFound, "There is no connection %q.", h.Connection)
		}
		if other, _ := now.Platforms.Hook(h.Connection, h.Name); other != nil {
			return fault.New(fault.Conflict, "The connection %s has a hook %s already; give this one another name.", h.Connection, h.Name)
		}
		if len(now.Platforms.HooksOf(h.Connection, h.Scope)) >= maxHooks {
			return fault.New(fault.Conflict, "The connection %s has %d hooks for %s already. Delete one that is not needed any more.",
				h.Connection, maxHooks, h.Scope)
		}
		return s.insertHook(ctx, tx, who, &h)
	})
	return h, err
}

func (s *Store) insertHook(ctx context.Context, tx *db.Tx, who notify.Actor, h *notify.Hook) error {
	h.CreatedBy, h.CreatedAt = who.Name, tx.Now()
	if err := tx.Get(ctx, "inserting hook", []any{&h.ID}, `INSERT INTO notify_hooks (connection, name, project_key, repository_key,
			project_fold, repository_fold, secret, previous_until, created_by, created_at, rotated_by, rotated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, '', 0) RETURNING id`,
		h.Connection, h.Name, clean(h.Scope.ProjectKey), clean(h.Scope.RepositoryKey), notify.Fold(clean(h.Scope.ProjectKey)),
		notify.Fold(clean(h.Scope.RepositoryKey)),
		s.box.Seal(h.Secret.Reveal(), "notify_hooks", "secret", rowOf(h)), h.CreatedBy, db.Micros(h.CreatedAt)); err != nil {
		return err
	}
	return recordHook(ctx, tx, who, "create", nil, h)
}

// RotateHook replaces the secret of a hook; the old one signs for 7 days more. The
// secret is in no other answer. fault.Conflict: its secret is in the file.
func (s *Store) RotateHook(ctx context.Context, who notify.Actor, connection, name string) (notify.Hook, error) {
	var after notify.Hook
	err := s.changePlatforms(ctx, func(tx *db.Tx) error {
		before, err := s.hookForChange(ctx, tx, connection, name)
		if err != nil {
			return err
		}
		after = *before
		after.Previous, after.PreviousUntil = before.Secret, tx.Now().Add(notify.PreviousHolds)
		if before.SecretLost() {
			after.PreviousUntil = time.Time{}
		}
		after.Secret, after.RotatedBy, after.RotatedAt = newHookSecret(), who.Name, tx.Now()
		var previous []byte
		if !after.Previous.IsZero() {
			previous = s.box.Seal(after.Previous.Reveal(), "notify_hooks", "previous", rowOf(&after))
		}
		if err := tx.Do(ctx, "rotating hook",
			`UPDATE notify_hooks SET secret = $1, previous = $2, previous_until = $3, rotated_by = $4, rotated_at = $5 WHERE id = $6`,
			s.box.Seal(after.Secret.Reveal(), "notify_hooks", "secret", rowOf(&after)), previous, db.Micros(after.PreviousUntil),
			after.RotatedBy, db.Micros(after.RotatedAt), after.ID); err != nil {
			return err
		}
		return recordHook(ctx, tx, who, "rotate", before, &after)
	})
	return after, err
}

// DeleteHook deletes a hook: what it signs is refused from then on, on every
// node. A connection's own hook goes with the connection (fault.Conflict).
func (s *Store) DeleteHook(ctx context.Context, who notify.Actor, connection, name string) error {
	return s.changePlatforms(ctx, func(tx *db.Tx) error {
		before, err := s.hookForChange(ctx, tx, connection, name)
		if err != nil {
			return err
		}
		if name == "" {
			return fault.New(fault.Conflict, "The connection's own hook goes with the connection; rotate its secret instead.")
		}
		if err := tx.Do(ctx, "deleting hook", `DELETE FROM notify_hooks WHERE id = $1`, before.ID); err != nil {
			return err
		}
		if err := tx.Do(ctx, "deleting the hook's offers",
			`DELETE FROM notify_renames WHERE hook_id = $1 AND state = 'offered'`, before.ID); err != nil {
			return err
		}
		return recordHook(ctx, tx, who, "delete", before, nil)
	})
}

func (s *Store) hookForChange(ctx context.Context, tx *db.Tx, connection, name string) (*notify.Hook, error) {
	now, err := s.load(ctx, tx)
	if err != nil {
		return nil, err
	}
	h, _ := now.Platforms.Hook(connection, name)
	switch {
	case h == nil:
		return nil, fault.New(fault.NotFound, "The connection %q has no hook %q.", connection, name)
	case h.ID == 0:
		return nil, fault.New(fault.Conflict, "The secret of this hook is in the configuration file; change it there.")
	}
	return h, nil
}

func recordHook(ctx context.Context, tx *db.Tx, who notify.Actor, action string, before, after *notify.Hook) error {
	of := cmp.Or(after, before)
	entry := who.AuditEntry(action, "hook", rowOf(of), before.Audited(), after.Audited())
	entry.Connection, entry.Project, entry.Repository = of.Connection, of.Scope.ProjectKey, of.Scope.RepositoryKey
	return audit.Record(ctx, tx, entry)
}
