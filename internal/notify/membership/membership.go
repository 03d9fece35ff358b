// Package membership answers who is in which group of a platform, from what the
// platform said a while ago or, where that is too old, by asking it.
package membership

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

const (
	// freshFor is how long an answer holds without asking again.
	freshFor = 10 * time.Minute
	// Keep is how long the last answer holds while the platform cannot be asked.
	Keep = 7 * 24 * time.Hour
	// askTime is how long an event may be kept waiting for a platform's answer.
	askTime = 10 * time.Second
	// failedFor is how long a platform that did not answer is not asked again,
	// so that its silence does not hold up one event after the other.
	failedFor = 30 * time.Second
	// asksByPerson is how many questions a user may have put to platforms in a
	// minute, by trying rules. It is half of what the platform grants an account by
	// default, and that account signs in users and asks for builds too.
	asksByPerson = 150
	// maxRemembered bounds the memory; what goes is still in the database.
	maxRemembered = 20_000
)

// Options are what Memberships need.
type Options struct {
	Store *store.Store
	// Ask asks a connection's platform whether the user is in the group.
	Ask   func(ctx context.Context, c *notify.Connection, user, group string) (bool, error)
	Clock func() time.Time
	Log   *slog.Logger
}

// Memberships is notify.Memberships of the connections that have an account.
type Memberships struct {
	Options
	asking singleflight.Group
	people limit.PerMinute[int64] // by the user's id

	mu      sync.Mutex
	answers map[remembered]notify.Membership
	failed  map[string]failure // by connection
}

// remembered is a question to a platform: another address is another platform.
type remembered struct {
	baseURL string
	notify.MembershipKey
}

type failure struct {
	until time.Time
	err   error
}

// New makes Memberships.
func New(o Options) *Memberships {
	return &Memberships{Options: o, answers: make(map[remembered]notify.Membership), failed: make(map[string]failure)}
}

// MemberOf reports whether the user is in any of the groups; see
// notify.Memberships.
func (m *Memberships) MemberOf(ctx context.Context, connection, user string, groups []string) (bool, error) {
	c := m.Store.Platforms().Connections.Find(connection)
	if c == nil {
		return false, fault.New(fault.NotFound, "There is no connection %q.", connection)
	}
	if user == "" {
		return false, nil
	}
	// A group that has the user by what is known saves asking for the others.
	var stale []notify.MembershipKey
	for _, group := range groups {
		k := notify.MembershipKey{Connection: c.Name, Group: strings.TrimSpace(group), User: user}.Folded()
		known, err := m.known(ctx, c, k)
		if err != nil {
			return false, err
		}
		switch {
		case !m.within(known, freshFor):
			stale = append(stale, notify.MembershipKey{Connection: c.Name, Group: strings.TrimSpace(group), User: user})
		case known.Member:
			return true, nil
		}
	}
	var unknown error
	for _, k := range stale {
		member, err := m.ask(ctx, c, k)
		switch {
		case err == nil && member:
			return true, nil
		case err != nil:
			unknown = err
		}
	}
	return false, unknown
}

func (m *Memberships) within(a notify.Membership, d time.Duration) bool {
	return !a.At.IsZero() && m.Clock().Sub(a.At) < d
}

// known returns the last answer, of this node or of another.
func (m *Memberships) known(ctx context.Context, c *notify.Connection, k notify.MembershipKey) (notify.Membership, error) {
	m.mu.Lock()
	a := m.answers[remembered{c.BaseURL, k}]
	m.mu.Unlock()
	if m.within(a, freshFor) {
		return a, nil
	}
	a, err := m.Store.Membership(ctx, k)
	if err == nil && !a.At.IsZero() {
		m.remember(c, k, a)
	}
	return a, err
}

func (m *Memberships) remember(c *notify.Connection, k notify.MembershipKey, a notify.Membership) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.answers) >= maxRemembered {
		clear(m.answers)
	}
	m.answers[remembered{c.BaseURL, k}] = a
}

// ask asks the platform, and where that fails gives the last answer that still
// holds. Those who ask the same at the same time share one request.
func (m *Memberships) ask(ctx context.Context, c *notify.Connection, k notify.MembershipKey) (bool, error) {
	if err := m.allow(ctx); err != nil {
		return m.stale(ctx, c, k, err)
	}
	shared := m.asking.DoChan(strings.Join([]string{c.BaseURL, c.Name, k.Group, k.User}, "\x00"), func() (any, error) {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime) // though one of them leaves
		defer cancel()
		return m.askPlatform(asking, c, k)
	})
	var err error
	select {
	case answer := <-shared:
		if answer.Err == nil {
			return answer.Val.(bool), nil
		}
		err = answer.Err
	case <-ctx.Done():
		err = fault.Wrap(ctx.Err(), fault.Unavailable, "The platform of %s has not answered in time.", c.Name)
	}
	return m.stale(ctx, c, k, err)
}

// allow bounds what a person has asked; events are asked for by no person.
func (m *Memberships) allow(ctx context.Context) error {
	who := identity.From(ctx)
	if who == nil {
		return nil
	}
	if wait := m.people.Take(who.UserID, asksByPerson, m.Clock()); wait > 0 {
		return fault.TooOften(wait, "You asked the platform about %d groups and users within a minute. Wait a moment.", asksByPerson)
	}
	return nil
}

// stale returns the last answer where it still holds, else err.
func (m *Memberships) stale(ctx context.Context, c *notify.Connection, k notify.MembershipKey, err error) (bool, error) {
	last, readErr := m.known(context.WithoutCancel(ctx), c, k.Folded())
	if readErr == nil && m.within(last, Keep) {
		return last.Member, nil
	}
	return false, err
}

func (m *Memberships) askPlatform(ctx context.Context, c *notify.Connection, k notify.MembershipKey) (bool, error) {
	if !c.Answers() {
		return notify.NoMemberships{}.MemberOf(ctx, c.Name, k.User, nil)
	}
	m.mu.Lock()
	failed := m.failed[c.Name]
	m.mu.Unlock()
	if m.Clock().Before(failed.until) {
		return false, failed.err
	}
	member, err := m.Ask(ctx, c, k.User, k.Group)
	m.outcome(c, err)
	if err != nil {
		return false, err
	}
	a := notify.Membership{Member: member, At: m.Clock()}
	m.remember(c, k.Folded(), a)
	if err := m.Store.KeepMembership(ctx, k.Folded(), a); err != nil {
		m.Log.Warn("the platform's answer about a group is not kept", "connection", c.Name, "error", err)
	}
	return member, nil
}

// outcome notes whether the platform answered, and says so when that changes.
func (m *Memberships) outcome(c *notify.Connection, err error) {
	m.mu.Lock()
	_, before := m.failed[c.Name]
	if err != nil {
		m.failed[c.Name] = failure{m.Clock().Add(failedFor), err}
	} else {
		delete(m.failed, c.Name)
	}
	m.mu.Unlock()
	switch {
	case err != nil && !before:
		m.Log.Warn("the platform cannot be asked for its groups; its last answers hold", "connection", c.Name, "error", err)
	case err == nil && before:
		m.Log.Info("the platform answers for its groups again", "connection", c.Name)
	}
}
