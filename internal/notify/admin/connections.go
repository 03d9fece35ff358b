package admin

import (
	"context"
	"slices"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// ConnectionInfo is a connection with the hooks that the caller administers.
type ConnectionInfo struct {
	notify.Connection
	Hooks []*notify.Hook
}

// administersIn reports whether the principal administers anything of a
// connection.
func administersIn(who *identity.Principal, connection string) bool {
	return who.May(identity.Admin, identity.Resource{}) || slices.ContainsFunc(who.Grants, func(g identity.Grant) bool {
		return g.Resource.Connection == connection
	})
}

// Visible lists the connections of which the caller administers anything.
func (s *Hooks) Visible(ctx context.Context) ([]ConnectionInfo, error) {
	if err := s.Store.Renew(ctx); err != nil {
		return nil, err
	}
	who, platforms := identity.From(ctx), s.Store.Platforms()
	var list []ConnectionInfo
	for _, c := range platforms.Connections {
		if administersIn(who, c.Name) {
			list = append(list, ConnectionInfo{c, visibleHooks(platforms, who, c.Name)})
		}
	}
	return list, nil
}

// VisibleConnection returns one of those that Visible lists: fault.NotFound for
// a SYS_ADMIN, else fault.Forbidden as for a connection of others.
func (s *Hooks) VisibleConnection(ctx context.Context, name string) (*ConnectionInfo, error) {
	if err := s.Store.Renew(ctx); err != nil {
		return nil, err
	}
	who, platforms := identity.From(ctx), s.Store.Platforms()
	c := platforms.Connections.Find(name)
	if c == nil || !administersIn(who, c.Name) {
		return nil, identity.Missing(ctx, "There is no connection %q.", name)
	}
	return &ConnectionInfo{*c, visibleHooks(platforms, who, name)}, nil
}

func visibleHooks(p *notify.Platforms, who *identity.Principal, connection string) []*notify.Hook {
	return slices.DeleteFunc(p.Hooks(connection), func(h *notify.Hook) bool { return !who.May(h.Access()) })
}

// CreateConnection makes a connection; see store.Store for the errors. wrong is what
// the caller has found in the members already: all errors are returned together.
func (s *Hooks) CreateConnection(ctx context.Context, c notify.Connection, wrong fault.Fields) (notify.Connection, secret.Value, error) {
	if err := sysAdmin(ctx); err != nil {
		return c, secret.Value{}, err
	}
	if err := s.mayEnter(ctx, &c); err != nil {
		return c, secret.Value{}, err
	}
	return s.Store.CreateConnection(ctx, actor(ctx), c, wrong)
}

// SaveConnection changes a connection; wrong and the errors are as for
// CreateConnection. Where kept credentials would serve another purpose than they
// were entered for, it needs what entering them does.
func (s *Hooks) SaveConnection(ctx context.Context, c notify.Connection, wrong fault.Fields) (notify.Connection, error) {
	if err := sysAdmin(ctx); err != nil {
		return c, err
	}
	if err := s.mayEnter(ctx, &c); err != nil {
		return c, err
	}
	return s.Store.SaveConnection(ctx, actor(ctx), c, wrong, s.Confirmed(ctx))
}

// mayEnter returns nil if the caller may enter the credentials that c brings, if any.
func (s *Hooks) mayEnter(ctx context.Context, c *notify.Connection) error {
	if c.Token.IsZero() && c.OAuthClientSecret.IsZero() {
		return nil
	}
	return s.Confirmed(ctx)
}

// DeleteConnection deletes a connection; see store.Store for the version and the
// errors.
func (s *Hooks) DeleteConnection(ctx context.Context, name string, version int64) error {
	if err := sysAdmin(ctx); err != nil {
		return err
	}
	return s.Store.DeleteConnection(ctx, actor(ctx), name, version)
}

// OfferedRenames lists the renames that wait for an administrator's decision,
// the oldest first: those with an id above after, at most limit.
func (s *Hooks) OfferedRenames(ctx context.Context, after int64, limit int) ([]notify.Rename, error) {
	if err := sysAdmin(ctx); err != nil {
		return nil, err
	}
	return s.Store.OfferedRenames(ctx, after, limit)
}

// OfferedRename returns one of them; see store.Store for the errors.
func (s *Hooks) OfferedRename(ctx context.Context, id int64) (notify.Rename, error) {
	if err := sysAdmin(ctx); err != nil {
		return notify.Rename{}, err
	}
	return s.Store.OfferedRename(ctx, id)
}

// ConfirmRename has rules, the scopes of hooks and grants go by the new key.
func (s *Hooks) ConfirmRename(ctx context.Context, id int64) error {
	if err := sysAdmin(ctx); err != nil {
		return err
	}
	return s.Store.ConfirmRename(ctx, actor(ctx), id)
}

// DismissRename says that a rename is not to be followed.
func (s *Hooks) DismissRename(ctx context.Context, id int64) error {
	if err := sysAdmin(ctx); err != nil {
		return err
	}
	return s.Store.DismissRename(ctx, actor(ctx), id)
}
