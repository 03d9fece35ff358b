package store

import (
	"context"
	"strings"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// UsePlatforms names the connections of the configuration file, and what
// decodes the webhooks of each kind of platform. It must be called before Load.
func (s *Store) UsePlatforms(file notify.Connections, kinds map[string]notify.Decoder) {
	s.kinds = kinds
	s.file.Store(&file)
}

// ReplaceFile has file take the place of the connections of the configuration file, on
// this node. It holds for events acknowledged after it returns nil. record, in the same
// transaction, is for the audit trail.
func (s *Store) ReplaceFile(ctx context.Context, file notify.Connections, record func(*db.Tx) error) error {
	// Before the commit: a reader of the new count must find these connections.
	before := s.file.Swap(&file)
	err := s.changePlatforms(ctx, record)
	if err == nil {
		return nil
	}
	s.file.Store(before)
	for { // another change may have been loaded with file meanwhile
		set := s.rules.Load()
		if s.rules.CompareAndSwap(set, s.withFile(set)) {
			return err
		}
	}
}

// withFile is set with the present connections of the configuration file.
func (s *Store) withFile(set *notify.RuleSet) *notify.RuleSet {
	platforms := set.Platforms.WithFile(s.file.Load())
	if platforms == set.Platforms {
		return set
	}
	with := *set
	with.Platforms = platforms
	return &with
}

// Platforms are the present connections and hooks on this node.
func (s *Store) Platforms() *notify.Platforms { return s.rules.Load().Platforms }

// Renew loads what other nodes changed, where there are any. Those who ask at
// the same time share one query.
func (s *Store) Renew(ctx context.Context) error {
	if s.db.Dialect() == db.SQLite {
		return nil // every change is this process's own
	}
	asked := s.renewing.DoChan("", func() (any, error) {
		shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime) // though one of the callers leaves
		defer cancel()
		return nil, s.Load(shared)
	})
	select {
	case answer := <-asked:
		return answer.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// renewTime is how long Renew waits for a database that hangs.
const renewTime = 2 * time.Second

// changePlatforms is changeRules for connections, hooks and offered renames.
func (s *Store) changePlatforms(ctx context.Context, change func(tx *db.Tx) error) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := s.beginPlatformsChange(ctx, tx); err != nil {
			return err
		}
		return change(tx)
	})
}

// beginPlatformsChange is beginRulesChange for connections, hooks and offered renames.
func (s *Store) beginPlatformsChange(ctx context.Context, tx *db.Tx) error {
	if err := s.beginRulesChange(ctx, tx); err != nil {
		return err
	}
	return countPlatforms(ctx, tx)
}

func countPlatforms(ctx context.Context, tx *db.Tx) error {
	return tx.Do(ctx, "counting platforms", `UPDATE notify_generation SET platforms = platforms + 1`)
}

// readPlatforms reads all connections and hooks: some thousand at most, and
// only when one of them changed.
func (s *Store) readPlatforms(ctx context.Context, tx *db.Tx, count int64) (*notify.Platforms, error) {
	stored, err := s.readConnections(ctx, tx)
	if err != nil {
		return nil, err
	}
	hooks, err := s.readHooks(ctx, tx)
	if err != nil {
		return nil, err
	}
	offers, err := readRenames(ctx, tx, `state = 'offered'`)
	if err != nil {
		return nil, err
	}
	for _, o := range offers {
		for _, h := range hooks {
			if h.ID == o.HookID && h.Connection == o.Connection && h.Name == o.Hook && !h.Scope.Holds(o.To) {
				h.Offered = append(h.Offered, o.KeyChange())
			}
		}
	}
	return notify.NewPlatforms(count, s.file.Load(), stored, hooks, s.kinds), nil
}

func (s *Store) readConnections(ctx context.Context, tx *db.Tx) (notify.Connections, error) {
	return db.List(ctx, tx, "reading connections", func(row db.Row) (c notify.Connection, err error) {
		var token, client []byte
		if err := row.Scan(&c.Name, &c.Version, &c.Kind, &c.BaseURL, &c.User, &token, &c.ManageWebhooks, &c.OAuthClientID, &client,
			&c.CreatedBy, db.At(&c.CreatedAt), &c.UpdatedBy, db.At(&c.UpdatedAt), db.At(&c.ServerAt)); err != nil {
			return c, err
		}
		c.Token = s.unseal(token, "notify_connections", "token", rowOfConnection(&c))
		c.OAuthClientSecret = s.unseal(client, "notify_connections", "oauth_client_secret", rowOfConnection(&c))
		return c, nil
	}, `SELECT name, version, kind, base_url, user_name, token, manage_webhooks, oauth_client_id, oauth_client_secret,
		created_by, created_at, updated_by, updated_at, server_at FROM notify_connections ORDER BY name`)
}

func (s *Store) readHooks(ctx context.Context, tx *db.Tx) ([]*notify.Hook, error) {
	return db.List(ctx, tx, "reading hooks", func(row db.Row) (*notify.Hook, error) {
		h := new(notify.Hook)
		var current, previous []byte
		if err := row.Scan(&h.ID, &h.Connection, &h.Name, &h.Scope.ProjectKey, &h.Scope.RepositoryKey, &current, &previous,
			db.At(&h.PreviousUntil), &h.CreatedBy, db.At(&h.CreatedAt), &h.RotatedBy, db.At(&h.RotatedAt)); err != nil {
			return nil, err
		}
		h.Secret = s.unseal(current, "notify_hooks", "secret", rowOf(h))
		h.Previous = s.unseal(previous, "notify_hooks", "previous", rowOf(h))
		return h, nil
	}, `SELECT id, connection, name, project_key, repository_key, secret, previous, previous_until,
		created_by, created_at, rotated_by, rotated_at FROM notify_hooks ORDER BY id`)
}

// rowOf is what a hook's secrets are sealed for: they are sealed before there is
// an id.
func rowOf(h *notify.Hook) string { return h.Connection + "/" + h.Name }

// unseal opens a secret. One that does not open is none: its hook refuses
// everything until it is rotated, and the others go on.
func (s *Store) unseal(sealed []byte, table, column, row string) secret.Value {
	plain, err := s.open(sealed, table, column, row)
	if err != nil {
		s.log.Warn("a secret cannot be read and must be set again", "of", strings.TrimSuffix(row, "/"), "error", err)
	}
	return plain
}

// open opens a secret; none where none is stored.
func (s *Store) open(sealed []byte, table, column, row string) (secret.Value, error) {
	if len(sealed) == 0 {
		return secret.Value{}, nil
	}
	plain, err := s.box.Unseal(sealed, table, column, row)
	return secret.New(plain), err
}
