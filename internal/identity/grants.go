package identity

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// Grant is a permission that a user or a group has at a place.
type Grant struct {
	ID         int64      `json:"id" doc:"Names it when it is revoked."`
	Permission Permission `json:"permission" enum:"SYS_ADMIN,ADMIN,PROJECT_ADMIN,REPO_ADMIN" doc:"What may be done there."`
	Resource
	GrantedAt time.Time `json:"grantedAt" doc:"When it was granted."`
}

// JudgeGrant says what is wrong with a permission at a place.
func JudgeGrant(perm Permission, at Resource) error {
	var wrong fault.Fields
	if !slices.Contains(Permissions(), perm) {
		wrong.Add("permission", "There is no permission %q; give SYS_ADMIN, ADMIN, PROJECT_ADMIN or REPO_ADMIN.", string(perm))
		return wrong.Err()
	}
	inProject := perm == ProjectAdmin || perm == RepoAdmin
	for _, place := range []struct {
		field, noun, value string
		needed             bool
	}{
		{"connection", "connection", at.Connection, inProject},
		{"projectKey", "project", at.Project, inProject},
		{"repositoryKey", "repository", at.Repository, perm == RepoAdmin},
	} {
		switch {
		case place.needed && place.value == "":
			wrong.Add(place.field, "Say which %s the permission is for.", place.noun)
		case !place.needed && place.value != "":
			wrong.Add(place.field, "The permission is for more than one %s; leave this empty.", place.noun)
		case len(place.value) > maxName:
			wrong.Add(place.field, "%s has at most %d characters.", place.field, maxName)
		}
	}
	return wrong.Err()
}

// Grant grants a permission to a user. Conflict: the user has it already.
func (s *Service) Grant(ctx context.Context, name string, perm Permission, at Resource) (Grant, error) {
	if err := JudgeGrant(perm, at); err != nil {
		return Grant{}, err
	}
	return s.grant(ctx, name, granteeUser, Grant{Permission: perm, Resource: at})
}

// grantee is who is granted something, with the grants that there are.
type grantee struct {
	holder
	object, id, name string // in the audit trail, and in errors
	grants           []Grant
}

// findGrantee finds a user or a group by the name.
type findGrantee func(ctx context.Context, tx *db.Tx, name string) (grantee, error)

func granteeUser(ctx context.Context, tx *db.Tx, name string) (who grantee, err error) {
	u, err := userByName(ctx, tx, name)
	if err != nil {
		return who, err
	}
	grants, err := grantsOf(ctx, tx, u.ID)
	return grantee{holder{user: u.ID}, "user", u.Ref(), u.Name, grants}, err
}

// grant stores a grant. Conflict: who is granted it has it already.
func (s *Service) grant(ctx context.Context, name string, find findGrantee, g Grant) (Grant, error) {
	if err := s.RequireConfirmed(ctx); err != nil {
		return Grant{}, err
	}
	g.GrantedAt = db.Time(db.Micros(s.now()))
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		who, err := find(ctx, tx, name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(who.grants, g.sameAs) {
			return errGranted(who.name, g.Permission)
		}
		if err := s.insertGrant(ctx, tx, who.holder, &g); err != nil {
			return err
		}
		return record(ctx, tx, "grant", who.object, who.id, nil, g.members())
	})
	if db.IsUnique(err) { // a concurrent call was quicker
		err = errGranted(name, g.Permission)
	}
	return g, err
}

func errGranted(name string, perm Permission) error {
	return fault.New(fault.Conflict, "%s already has %s there.", name, perm)
}

func (g Grant) sameAs(o Grant) bool {
	return g.Permission == o.Permission && g.Resource.Connection == o.Resource.Connection &&
		strings.EqualFold(g.Resource.Project, o.Resource.Project) && strings.EqualFold(g.Resource.Repository, o.Resource.Repository)
}

func (g Grant) members() map[string]string {
	m := map[string]string{"permission": string(g.Permission)}
	for name, value := range map[string]string{
		"connection": g.Resource.Connection, "projectKey": g.Resource.Project, "repositoryKey": g.Resource.Repository,
	} {
		if value != "" {
			m[name] = value
		}
	}
	return m
}

// holder is who has a grant: a user, or a group.
type holder struct {
	user  int64
	group string
}

func (s *Service) insertGrant(ctx context.Context, tx *db.Tx, to holder, g *Grant) error {
	user := sql.NullInt64{Int64: to.user, Valid: to.user != 0}
	s.changed(tx)
	return tx.Get(ctx, "storing a grant", []any{&g.ID},
		`INSERT INTO identity_grants (user_id, group_name, permission, connection, project, repository, granted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
		user, to.group, string(g.Permission), g.Resource.Connection, g.Resource.Project, g.Resource.Repository, db.Micros(g.GrantedAt))
}

// Revoke takes a grant back from a user. Conflict: it is the last SYS_ADMIN of
// an enabled local user.
func (s *Service) Revoke(ctx context.Context, name string, id int64) error {
	return s.revoke(ctx, name, granteeUser, id)
}

func (s *Service) revoke(ctx context.Context, name string, find findGrantee, id int64) error {
	if err := s.RequireConfirmed(ctx); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		who, err := find(ctx, tx, name)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(who.grants, func(g Grant) bool { return g.ID == id })
		switch {
		case i < 0 && who.user == 0:
			return fault.New(fault.NotFound, "The group %s has no grant %d.", who.name, id)
		case i < 0:
			return fault.New(fault.NotFound, "%s has no grant %d.", who.name, id)
		}
		if who.user != 0 { // groups have no SYS_ADMIN
			if err := keepOneSysAdmin(ctx, tx, `id <> $1`, id); err != nil {
				return err
			}
		}
		if err := deleteOne(ctx, tx, "permission", `DELETE FROM identity_grants WHERE id = $1`, id); err != nil {
			return err
		}
		s.changed(tx)
		return record(ctx, tx, "revoke", who.object, who.id, who.grants[i].members(), nil)
	})
}

// deleteOne deletes a row that was read in the transaction: NotFound where another
// node has deleted it since, so that of two who delete it one does, and the audit
// trail names that one.
func deleteOne(ctx context.Context, tx *db.Tx, what, statement string, id int64) error {
	return tx.ChangeOne(ctx, "deleting a "+what, fault.New(fault.NotFound, "The %s has just been deleted.", what), statement, id)
}

// keepOneSysAdmin refuses to go on when no grant of SYS_ADMIN but those that
// condition leaves out exists: without it nothing could be granted any more.
// Those of disabled users do not count, nor those of platform users, who cannot
// sign in while the platform is away.
func keepOneSysAdmin(ctx context.Context, tx *db.Tx, condition string, arg int64) error {
	// Locked, because two who remove each other at once would both succeed.
	if tx.Dialect() == db.Postgres {
		if err := tx.Do(ctx, "locking grants",
			`SELECT 1 FROM identity_grants WHERE permission = 'SYS_ADMIN' ORDER BY id FOR UPDATE`); err != nil {
			return err
		}
	}
	var all, rest int
	err := tx.Get(ctx, "counting administrators", []any{&all, &rest},
		`SELECT COUNT(*), COUNT(CASE WHEN `+condition+` THEN 1 END) FROM identity_grants
		WHERE permission = 'SYS_ADMIN' AND user_id IN (SELECT id FROM identity_users WHERE source = 'local' AND disabled_at = 0)`, arg)
	if err == nil && all > 0 && rest == 0 {
		return fault.New(fault.Conflict, "This is the last enabled user with SYS_ADMIN. Grant it to another user first.")
	}
	return err
}

// grantsOf lists the grants of a user, the oldest first.
func grantsOf(ctx context.Context, tx *db.Tx, user int64) ([]Grant, error) {
	grants, err := grantsWhere(ctx, tx, `user_id = $1`, user)
	return grants[holder{user: user}], err
}

// grantsWhere lists grants by who has them, the oldest first.
func grantsWhere(ctx context.Context, tx *db.Tx, condition string, args ...any) (map[holder][]Grant, error) {
	grants := map[holder][]Grant{}
	return grants, tx.EachRow(ctx, "reading grants", func(row db.Row) error {
		var g Grant
		var of holder
		at := &g.Resource
		err := row.Scan(&of.user, &of.group, &g.ID, &g.Permission, &at.Connection, &at.Project, &at.Repository, db.At(&g.GrantedAt))
		grants[of] = append(grants[of], g)
		return err
	}, `SELECT COALESCE(user_id, 0), group_name, id, permission, connection, project, repository, granted_at
		FROM identity_grants WHERE `+condition+` ORDER BY id`, args...)
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }
