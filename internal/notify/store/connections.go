package store

import (
	"cmp"
	"context"
	"errors"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/phrase"
	"outrigger/internal/secret"
)

// CreateConnection makes a connection with its own hook, whose secret is in no
// other answer. Errors: fault.Invalid, which names what is wrong already too, and
// fault.Conflict where the name is taken.
func (s *Store) CreateConnection(
	ctx context.Context, who notify.Actor, c notify.Connection, wrong fault.Fields,
) (notify.Connection, secret.Value, error) {
	if err := fault.Every(wrong.Err(), c.Validate(s.kinds)); err != nil {
		return c, secret.Value{}, err
	}
	own := notify.Hook{Connection: c.Name, Secret: newHookSecret()}
	err := s.changePlatforms(ctx, func(tx *db.Tx) error {
		stored, err := s.readConnections(ctx, tx)
		if err != nil {
			return err
		}
		if s.file.Load().Find(c.Name) != nil || stored.Find(c.Name) != nil {
			return fault.New(fault.Conflict, "There is a connection %s already; give this one another name.", c.Name)
		}
		c.Version, c.CreatedBy, c.CreatedAt, c.UpdatedBy, c.UpdatedAt, c.ServerAt = 1, who.Name, tx.Now(), who.Name, tx.Now(), tx.Now()
		if err := tx.Do(ctx, "inserting connection",
			`INSERT INTO notify_connections (name, version, kind, base_url, user_name, token, manage_webhooks,
				oauth_client_id, oauth_client_secret, created_by, created_at, updated_by, updated_at, server_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`, c.Name, c.Version, c.Kind, c.BaseURL, c.User,
			s.sealOf(&c, "token", c.Token), db.Bit(c.ManageWebhooks),
			c.OAuthClientID, s.sealOf(&c, "oauth_client_secret", c.OAuthClientSecret), c.CreatedBy, db.Micros(c.CreatedAt), c.UpdatedBy,
			db.Micros(c.UpdatedAt), db.Micros(c.ServerAt)); err != nil {
			return err
		}
		// Of an earlier one of this name something may be left: hooks of one of the
		// file, and what its platform answered after it was deleted.
		if err := forgetConnection(ctx, tx, c.Name); err != nil {
			return err
		}
		if err := s.insertHook(ctx, tx, who, &own); err != nil {
			return err
		}
		return recordConnection(ctx, tx, who, "create", nil, &c)
	})
	return c, own.Secret, err
}

// SaveConnection changes the base URL and the credentials of a connection; an
// empty token, and an empty secret of an OAuth client, keep the stored one, if
// scheme, host and port of the base URL are unchanged. Version 0 is whatever is
// there. Errors: fault.Invalid, which names what is wrong already too,
// fault.NotFound, fault.Conflict for another version or a connection of the
// file, and unconfirmed, where it is not nil, for a change that Repurposes
// credentials.
func (s *Store) SaveConnection(ctx context.Context, who notify.Actor, draft notify.Connection, wrong fault.Fields, unconfirmed error) (
	c notify.Connection, err error,
) {
	err = s.changePlatforms(ctx, func(tx *db.Tx) error {
		c = draft // each time: what an undone transaction took from the stored one must not count as given
		before, err := s.changeable(ctx, tx, c.Name, c.Version)
		if err != nil {
			return err
		}
		if unconfirmed != nil && c.Repurposes(before) {
			return unconfirmed
		}
		if c.Kind == "" {
			c.Kind = before.Kind
		}
		var fixed error
		if c.Kind != before.Kind {
			fixed = fault.InvalidField("kind", "The kind of a connection is fixed: it is %s.", before.Kind)
		}
		if err := fault.Every(wrong.Err(), fixed, c.KeepSecrets(before), c.Validate(s.kinds)); err != nil {
			return err
		}
		c.Version, c.CreatedBy, c.CreatedAt = before.Version+1, before.CreatedBy, before.CreatedAt
		c.UpdatedBy, c.UpdatedAt, c.ServerAt = who.Name, tx.Now(), before.ServerAt
		if c.Moved(before) {
			c.ServerAt = tx.Now()
		}
		if err := tx.Do(ctx, "updating connection", `UPDATE notify_connections SET version = $1, base_url = $2, user_name = $3, token = $4,
			manage_webhooks = $5, oauth_client_id = $6, oauth_client_secret = $7, updated_by = $8, updated_at = $9, server_at = $10
			WHERE name = $11`,
			c.Version, c.BaseURL, c.User, s.sealOf(&c, "token", c.Token), db.Bit(c.ManageWebhooks),
			c.OAuthClientID, s.sealOf(&c, "oauth_client_secret", c.OAuthClientSecret), c.UpdatedBy, db.Micros(c.UpdatedAt), db.Micros(c.ServerAt),
			c.Name); err != nil {
			return err
		}
		if c.BaseURL != before.BaseURL {
			if err := errors.Join(forgetMemberships(ctx, tx, c.Name), forgetWebhooks(ctx, tx, c.Name)); err != nil {
				return err
			}
		}
		return recordConnection(ctx, tx, who, "update", before, &c)
	})
	return c, err
}

// DeleteConnection deletes a connection with all that another one of its name
// could go by: its hooks, the grants there, what is known of its platform. Events
// stay in the log. fault.Conflict: it has rules or reports, is of the file, or is not
// at the version any more; 0 is any.
func (s *Store) DeleteConnection(ctx context.Context, who notify.Actor, name string, version int64) error {
	return s.changePlatforms(ctx, func(tx *db.Tx) error {
		before, err := s.changeable(ctx, tx, name, version)
		if err != nil {
			return err
		}
		var rules, reports int
		if err := tx.Get(ctx, "counting rules and reports", []any{&rules, &reports},
			`SELECT (SELECT count(*) FROM notify_rules WHERE connection = $1),
			(SELECT count(*) FROM notify_reports WHERE connection = $1)`, name); err != nil {
			return err
		}
		if rules+reports > 0 {
			has := phrase.Count(rules, "rule")
			if rules == 0 {
				has = phrase.Count(reports, "activity report")
			}
			return fault.New(fault.Conflict, "The connection %s still has %s; delete what belongs to it first.", name, has)
		}
		if err := tx.DoAll(ctx, "deleting connection", []string{
			`DELETE FROM notify_connections WHERE name = $1`,
			`DELETE FROM notify_chat_accounts WHERE connection = $1`,
			`DELETE FROM notify_authorizations WHERE connection = $1`,
		}, name); err != nil {
			return err
		}
		if err := forgetConnection(ctx, tx, name); err != nil {
			return err
		}
		if err := identity.RevokeGrants(ctx, tx, name); err != nil {
			return err
		}
		return recordConnection(ctx, tx, who, "delete", before, nil)
	})
}

// forgetConnection deletes the hooks of a connection and what is known of its
// platform.
func forgetConnection(ctx context.Context, tx *db.Tx, name string) error {
	if err := tx.DoAll(ctx, "forgetting connection", []string{
		`DELETE FROM notify_hooks WHERE connection = $1`,
		`DELETE FROM notify_renames WHERE connection = $1 AND state = 'offered'`,
		`DELETE FROM notify_authorization_requests WHERE connection = $1`,
		`DELETE FROM notify_refusals WHERE connection = $1`,
		`DELETE FROM notify_commits WHERE connection = $1`,
		`DELETE FROM notify_builds WHERE connection = $1`,
		`DELETE FROM notify_pull_requests WHERE connection = $1`,
		`DELETE FROM notify_channel_shares WHERE connection = $1`,
	}, name); err != nil {
		return err
	}
	return errors.Join(forgetMemberships(ctx, tx, name), forgetWebhooks(ctx, tx, name))
}

// checkConnection is fault.Invalid where there is no such connection, for what is
// made under the lock of the rules: none is deleted meanwhile.
func (s *Store) checkConnection(ctx context.Context, tx *db.Tx, name string) error {
	if s.file.Load().Find(name) != nil {
		return nil
	}
	return tx.FindOne(ctx, "finding a connection", fault.InvalidField("connection", "There is no connection %s any more.", name),
		[]any{&name}, `SELECT name FROM notify_connections WHERE name = $1`, name)
}

// changeable returns a stored connection. fault.Conflict: it is not at the version any
// more; 0 is any.
func (s *Store) changeable(ctx context.Context, tx *db.Tx, name string, version int64) (*notify.Connection, error) {
	if s.file.Load().Find(name) != nil {
		return nil, fault.New(fault.Conflict, "The connection %s is declared in the configuration file; change it there.", name)
	}
	stored, err := s.readConnections(ctx, tx)
	if err != nil {
		return nil, err
	}
	c := stored.Find(name)
	if c == nil {
		return nil, fault.New(fault.NotFound, "There is no connection %q.", name)
	}
	if err := staleVersion(ctx, tx, c.Name, version, c.Present()); err != nil {
		return nil, err
	}
	return c, nil
}

// sealOf encrypts a secret of a connection for its column.
func (s *Store) sealOf(c *notify.Connection, column string, v secret.Value) []byte {
	if v.IsZero() {
		return nil
	}
	return s.box.Seal(v.Reveal(), "notify_connections", column, rowOfConnection(c))
}

// rowOfConnection is connectionRow in Go.
func rowOfConnection(c *notify.Connection) string { return c.Name + " " + c.BaseURL }

func recordConnection(ctx context.Context, tx *db.Tx, who notify.Actor, action string, before, after *notify.Connection) error {
	of := cmp.Or(after, before)
	now := after.Audited()
	if before != nil && after != nil && !before.Token.Equal(after.Token) {
		now["token"] = "•••• (another)"
	}
	if before != nil && after != nil && !before.OAuthClientSecret.Equal(after.OAuthClientSecret) && !after.OAuthClientSecret.IsZero() {
		now["oauthClientSecret"] = "•••• (another)"
	}
	entry := who.AuditEntry(action, "connection", of.Name, before.Audited(), now)
	entry.Connection = of.Name
	return audit.Record(ctx, tx, entry)
}
