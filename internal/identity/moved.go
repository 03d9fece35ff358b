package identity

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"outrigger/internal/db"
)

// MoveGrants has the grants at a place hold at another: the platform renamed
// or moved it. A place without a repository is the project with all of its
// repositories.
func MoveGrants(ctx context.Context, tx *db.Tx, from, to Resource) error {
	grants, err := grantsAt(ctx, tx, from)
	if err != nil {
		return err
	}
	for _, g := range grants {
		at := g.Resource
		at.Project = to.Project
		if to.Repository != "" {
			at.Repository = to.Repository
		}
		// Who was granted the new place already keeps that grant.
		if err := tx.Do(ctx, "moving a grant",
			`INSERT INTO identity_grants (user_id, group_name, permission, connection, project, repository, granted_at)
			SELECT user_id, group_name, permission, connection, CAST($1 AS TEXT), CAST($2 AS TEXT), granted_at FROM identity_grants WHERE id = $3
			ON CONFLICT DO NOTHING`, at.Project, at.Repository, g.ID); err != nil {
			return err
		}
		if at == g.Resource { // only the case of a key changed, and ours stays
			continue
		}
		if err := tx.Do(ctx, "moving a grant", `DELETE FROM identity_grants WHERE id = $1`, g.ID); err != nil {
			return err
		}
	}
	return nil
}

// RevokeGrants takes back all grants at the projects and repositories of a
// connection that is deleted. Users that a node remembers keep them for as long as
// it does, less than a second.
func RevokeGrants(ctx context.Context, tx *db.Tx, connection string) error {
	revoked, err := grantsWhere(ctx, tx, `connection = $1`, connection)
	if err != nil {
		return err
	}
	if err := tx.Do(ctx, "deleting the grants of a connection", `DELETE FROM identity_grants WHERE connection = $1`, connection); err != nil {
		return err
	}
	for _, of := range slices.SortedFunc(maps.Keys(revoked), holder.compare) {
		object, id := "group", of.group
		if of.user != 0 {
			u, err := userByID(ctx, tx, of.user)
			if err != nil {
				return err
			}
			object, id = "user", u.Ref()
		}
		for _, g := range revoked[of] {
			if err := record(ctx, tx, "revoke", object, id, g.members(), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h holder) compare(o holder) int {
	return cmp.Or(cmp.Compare(h.user, o.user), cmp.Compare(h.group, o.group))
}

func grantsAt(ctx context.Context, tx *db.Tx, at Resource) ([]Grant, error) {
	return db.List(ctx, tx, "reading the grants of a place", func(row db.Row) (g Grant, err error) {
		err = row.Scan(&g.ID, &g.Resource.Connection, &g.Resource.Project, &g.Resource.Repository, db.At(&g.GrantedAt))
		return g, err
	}, `SELECT id, connection, project, repository, granted_at FROM identity_grants
		WHERE connection = $1 AND LOWER(project) = LOWER($2) AND ($3 = '' OR LOWER(repository) = LOWER($3))`,
		at.Connection, at.Project, at.Repository)
}

// CountGrants says how many grants there are at a place that were made since a time,
// the zero time for all; without a repository those at the project's repositories
// count too.
func CountGrants(ctx context.Context, tx *db.Tx, at Resource, since time.Time) (int, error) {
	found, err := grantsAt(ctx, tx, at)
	found = slices.DeleteFunc(found, func(g Grant) bool { return g.GrantedAt.Before(since) })
	return len(found), err
}
