package admin

import (
	"context"
	"slices"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// Hooks has the operations on connections, hooks and offered renames, each with
// its permission check: the REST API and the console both go through it.
type Hooks struct {
	Store *store.Store
	// Ask asks a connection's platform who it is, with the connection's
	// credentials: its product and version, or why it does not say.
	Ask func(ctx context.Context, c *notify.Connection) (string, error)
	// Confirmed returns nil if the caller has shown the password or a second factor
	// lately, as new credentials of a connection need.
	Confirmed func(ctx context.Context) error
}

func sysAdmin(ctx context.Context) error {
	return identity.Require(ctx, identity.SysAdmin, identity.Resource{})
}

// Connections lists the connections by name.
func (s *Hooks) Connections(ctx context.Context) (notify.Connections, error) {
	if err := sysAdmin(ctx); err != nil {
		return nil, err
	}
	if err := s.Store.Renew(ctx); err != nil {
		return nil, err
	}
	return s.Store.Platforms().Connections, nil
}

// Connection returns one connection.
func (s *Hooks) Connection(ctx context.Context, name string) (*notify.Connection, error) {
	return connectionOf(ctx, s.Store, name)
}

// connectionOf returns a SYS_ADMIN one of the connections.
func connectionOf(ctx context.Context, s *store.Store, name string) (*notify.Connection, error) {
	if err := sysAdmin(ctx); err != nil {
		return nil, err
	}
	if err := s.Renew(ctx); err != nil {
		return nil, err
	}
	c := s.Platforms().Connections.Find(name)
	if c == nil {
		return nil, fault.New(fault.NotFound, "There is no connection %q.", name)
	}
	return c, nil
}

// Test asks the platform who it is: fault.Unavailable where it does not answer
// as such.
func (s *Hooks) Test(ctx context.Context, name string) (string, error) {
	c, err := s.Connection(ctx, name)
	if err != nil {
		return "", err
	}
	return s.Ask(ctx, c)
}

// List returns the hooks of a connection that the caller administers, by name:
// fault.Forbidden where that is none, but for a SYS_ADMIN.
func (s *Hooks) List(ctx context.Context, connection string) ([]*notify.Hook, error) {
	if err := s.Store.Renew(ctx); err != nil {
		return nil, err
	}
	platforms := s.Store.Platforms()
	list := visibleHooks(platforms, identity.From(ctx), connection)
	if platforms.Connections.Find(connection) == nil || len(list) == 0 {
		return list, identity.Missing(ctx, "There is no connection %q.", connection)
	}
	return list, nil
}

// Create makes a hook; see store.Store for the errors.
func (s *Hooks) Create(ctx context.Context, h notify.Hook) (notify.Hook, error) {
	if err := h.Validate(); err != nil {
		return h, err
	}
	if err := identity.From(ctx).Require(h.Access()); err != nil {
		return h, err
	}
	return s.Store.CreateHook(ctx, actor(ctx), h)
}

// CreateFor makes a hook for a scope, with a name of its own.
func (s *Hooks) CreateFor(ctx context.Context, connection string, scope notify.Scope) (notify.Hook, error) {
	return s.Create(ctx, notify.Hook{Connection: connection, Name: s.Store.Platforms().FreeHookName(connection, scope), Scope: scope})
}

// Get returns one hook: fault.NotFound for a SYS_ADMIN, else fault.Forbidden as
// for a hook of others.
func (s *Hooks) Get(ctx context.Context, connection, name string) (*notify.Hook, error) {
	if err := s.Store.Renew(ctx); err != nil {
		return nil, err
	}
	h, _ := s.Store.Platforms().Hook(connection, name)
	if h == nil {
		return nil, identity.Missing(ctx, "The connection %q has no hook %q.", connection, name)
	}
	return h, identity.From(ctx).Require(h.Access())
}

// Rotate replaces the secret of a hook; see store.Store.
func (s *Hooks) Rotate(ctx context.Context, connection, name string) (notify.Hook, error) {
	if _, err := s.Get(ctx, connection, name); err != nil {
		return notify.Hook{}, err
	}
	return s.Store.RotateHook(ctx, actor(ctx), connection, name)
}

// Delete deletes a hook; see store.Store.
func (s *Hooks) Delete(ctx context.Context, connection, name string) error {
	if _, err := s.Get(ctx, connection, name); err != nil {
		return err
	}
	return s.Store.DeleteHook(ctx, actor(ctx), connection, name)
}

// Refused lists what was refused in the last 24 h, by connection, hook and
// reason: all of it for an ADMIN, and for others what the hooks refused that they
// administer.
func (s *Hooks) Refused(ctx context.Context) ([]notify.RefusedWebhooks, error) {
	all, err := s.Store.Refused(ctx)
	if err != nil {
		return nil, err
	}
	who, platforms := identity.From(ctx), s.Store.Platforms()
	return slices.DeleteFunc(all, func(r notify.RefusedWebhooks) bool {
		if who.May(identity.Admin, identity.Resource{}) {
			return platforms.Connections.Find(r.Connection) == nil
		}
		h, _ := platforms.Hook(r.Connection, r.Hook)
		return h == nil || r.Reason == notify.RefusedHook || !who.May(h.Access())
	}), nil
}
