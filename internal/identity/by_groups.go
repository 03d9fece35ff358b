package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"outrigger/internal/db"
)

// GroupGrant is a permission that a user has through a group of single sign-on.
type GroupGrant struct {
	Group string
	Grant // its ID is 0 where the setting identity.oidc.admin_groups gives it
}

func (u User) principal() *Principal {
	return &Principal{UserID: u.ID, Name: u.Name, Source: u.Source, Scope: All, Grants: u.Grants, Pause: u.Pause}
}

// principal is the user as one who asks, with what groups give until their time is
// over: u may be remembered from before that.
func (s *Service) principal(u User) *Principal {
	p := u.principal()
	if len(u.ByGroups) == 0 || !s.groupsCount(u) {
		return p
	}
	p.Grants = slices.Clone(u.Grants)
	for _, g := range u.ByGroups {
		p.Grants = append(p.Grants, g.Grant)
	}
	return p
}

// groupsCount reports whether groups may give the user anything now.
func (s *Service) groupsCount(u User) bool {
	return s.groups != nil && u.Source == s.groups.source && s.now().Before(u.ClaimedUntil)
}

// loadGrants reads what a user was granted, and what groups give, and adds when the
// user is paused. Only for users whose groups count, that is a query more.
func (s *Service) loadGrants(ctx context.Context, tx *db.Tx, u *User) (err error) {
	u.Pause = s.pauseOf(*u)
	if u.Grants, err = grantsOf(ctx, tx, u.ID); err != nil {
		return err
	}
	return s.loadByGroups(ctx, tx, u)
}

// loadByGroups reads what groups give to users.
func (s *Service) loadByGroups(ctx context.Context, tx *db.Tx, users ...*User) error {
	byID, ids := map[int64]*User{}, []string(nil)
	for _, u := range users {
		if s.groupsCount(*u) {
			byID[u.ID], ids = u, append(ids, idText(u.ID))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	counts, args := `g.id IS NOT NULL`, []any(nil)
	for _, name := range s.groups.admins {
		args = append(args, name)
		counts += fmt.Sprintf(` OR m.name = $%d`, len(args))
	}
	return tx.EachRow(ctx, "reading what groups give", func(row db.Row) error {
		var user int64
		var g GroupGrant
		if err := row.Scan(&user, &g.Group, &g.ID, &g.Permission, &g.Resource.Connection, &g.Resource.Project,
			&g.Resource.Repository, db.At(&g.GrantedAt)); err != nil {
			return err
		}
		s.addByGroup(byID[user], g)
		return nil
	}, `SELECT m.user_id, m.name, COALESCE(g.id, 0), COALESCE(g.permission, ''), COALESCE(g.connection, ''), COALESCE(g.project, ''),
		COALESCE(g.repository, ''), COALESCE(g.granted_at, 0)
		FROM identity_members m LEFT JOIN identity_grants g ON g.user_id IS NULL AND g.group_name = m.name
		WHERE m.user_id IN (`+strings.Join(ids, ",")+`) AND (`+counts+`) ORDER BY m.user_id, m.name, g.id`, args...)
}

// addByGroup adds what a group gives to the user, ADMIN by the settings before
// what was granted.
func (s *Service) addByGroup(u *User, g GroupGrant) {
	last := len(u.ByGroups) - 1
	if first := last < 0 || u.ByGroups[last].Group != g.Group; first && slices.Contains(s.groups.admins, g.Group) {
		u.ByGroups = append(u.ByGroups, GroupGrant{g.Group, Grant{Permission: Admin}})
	}
	if g.ID != 0 {
		u.ByGroups = append(u.ByGroups, g)
	}
}
