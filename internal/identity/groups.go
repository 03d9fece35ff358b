package identity

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// Group is a group of single sign-on: one that a user is known to be in, that was
// granted something, or that the settings name.
type Group struct {
	Name   string  `json:"name" doc:"As the provider writes it."` // names are compared exactly
	Admin  bool    `json:"adminGroup" doc:"The setting identity.oidc.admin_groups names it, so that its users have ADMIN."`
	Users  int     `json:"users" min:"0" doc:"How many users are known to be in it."`
	Grants []Grant `json:"grants" doc:"What it was granted, the oldest first."`
}

// gives reports whether members have something through the group.
func (g Group) gives() bool { return g.Admin || len(g.Grants) > 0 }

// Place is the place of the group in the list of Groups.
func (g Group) Place() string {
	if g.gives() {
		return "0" + g.Name
	}
	return "1" + g.Name
}

// Member is a user who is known to be in a group.
type Member struct {
	Ref      string
	Disabled bool
	Since    time.Time // the first of the sign-ins, without a gap, at which the provider named the group
	Until    time.Time // when the last sign-in no longer counts
}

// Groups lists groups after the one of that Place: first those that give
// something, then the others, each by name. It counts the members of all groups,
// which is for pages that people open, not for what asks all the time.
func (s *Service) Groups(ctx context.Context, after string, limit int) (list []Group, err error) {
	all := map[string]*Group{}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		clear(all)
		if err := s.countMembers(ctx, tx, all, `TRUE`); err != nil {
			return err
		}
		grants, err := grantsWhere(ctx, tx, `user_id IS NULL`)
		for of, list := range grants {
			groupIn(all, of.group).Grants = list
		}
		return err
	})
	if s.groups != nil {
		for _, name := range s.groups.admins {
			groupIn(all, name).Admin = true
		}
	}
	for _, g := range all {
		if g.Place() > after {
			list = append(list, *g)
		}
	}
	slices.SortFunc(list, func(a, b Group) int { return cmp.Compare(a.Place(), b.Place()) })
	return list[:min(limit, len(list))], err
}

// groupIn is the group of that name, which is added where it is missing.
func groupIn(all map[string]*Group, name string) *Group {
	if all[name] == nil {
		all[name] = &Group{Name: name, Grants: []Grant{}}
	}
	return all[name]
}

// countMembers adds groups with the number of users who are in them now.
func (s *Service) countMembers(ctx context.Context, tx *db.Tx, all map[string]*Group, condition string, args ...any) error {
	if s.groups == nil {
		return nil
	}
	n := len(args)
	return tx.EachRow(ctx, "counting members", func(row db.Row) error {
		var name string
		var users int
		if err := row.Scan(&name, &users); err != nil {
			return err
		}
		groupIn(all, name).Users = users
		return nil
	}, fmt.Sprintf(`SELECT m.name, COUNT(*) FROM identity_members m JOIN identity_users u ON u.id = m.user_id
		WHERE %s AND u.source = $%d AND u.claimed_until > $%d GROUP BY m.name`, condition, n+1, n+2),
		append(args, s.groups.source, db.Micros(s.now()))...)
}

// Group returns a group. NotFound: no user is known to be in it, and neither a
// grant nor the settings name it.
func (s *Service) Group(ctx context.Context, name string) (Group, error) {
	g := &Group{Name: name, Grants: []Grant{}, Admin: s.groups != nil && slices.Contains(s.groups.admins, name)}
	if judgeGroup(name) == "" {
		err := s.db.Read(ctx, func(tx *db.Tx) error {
			if err := s.countMembers(ctx, tx, map[string]*Group{name: g}, `m.name = $1`, name); err != nil {
				return err
			}
			grants, err := grantsOfGroup(ctx, tx, name)
			g.Grants = append([]Grant{}, grants...)
			return err
		})
		if err != nil {
			return *g, err
		}
	}
	if g.Users == 0 && !g.gives() {
		return *g, fault.New(fault.NotFound, "No group %q is known: no grant names it, and no user who signed in within 7 days is in it.",
			name)
	}
	return *g, nil
}

// Members lists the users who are known to be in a group, by name, after the one of
// that Ref.
func (s *Service) Members(ctx context.Context, group, after string, limit int) (list []Member, err error) {
	if s.groups == nil || judgeGroup(group) != "" {
		return nil, nil
	}
	name := after
	if _, found, ok := strings.Cut(after, ":"); ok {
		name = found
	}
	return db.ReadList(ctx, s.db, "reading members", func(row db.Row) (Member, error) {
		var source, name string
		var disabled, since, until int64
		err := row.Scan(&source, &name, &disabled, &since, &until)
		return Member{refOf(source, name), disabled != 0, db.Time(since), db.Time(until)}, err
	}, `SELECT u.source, u.name, u.disabled_at, m.since, u.claimed_until FROM identity_members m JOIN identity_users u ON u.id = m.user_id
		WHERE m.name = $1 AND u.source = $2 AND u.claimed_until > $3 AND u.name_key > $4 ORDER BY u.name_key LIMIT $5`,
		group, s.groups.source, db.Micros(s.now()), nameKey(name), limit)
}
