package store

import (
	"context"
	"fmt"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// CloudRepositories returns one page of the repositories that have rules, on some
// connections.
func (s *Store) CloudRepositories(ctx context.Context, p notify.CloudRepositoryPage) ([]notify.CloudRepository, error) {
	if len(p.Connections) == 0 {
		return nil, nil
	}
	return readVisible(p.Limit, p.After, p.Visible, func(after *notify.CloudRepository, limit int) ([]notify.CloudRepository, error) {
		return s.readCloudRepositories(ctx, p.Connections, after, limit)
	})
}

func (s *Store) readCloudRepositories(
	ctx context.Context, connections []string, after *notify.CloudRepository, limit int,
) ([]notify.CloudRepository, error) {
	args := []any{notify.Fold(clean(after.Workspace)), notify.Fold(clean(after.Repository)), clean(after.Connection), limit}
	var names []string
	for _, name := range connections {
		args = append(args, name)
		names = append(names, fmt.Sprintf("$%d", len(args)))
	}
	return db.ReadList(ctx, s.db, "reading the repositories of rules", func(row db.Row) (one notify.CloudRepository, err error) {
		err = row.Scan(&one.Connection, &one.Workspace, &one.Repository, &one.Rules, &one.Enabled, &one.Unauthorized, &one.Webhook)
		return one, err
	}, `SELECT r.connection, min(r.project_key), min(r.repository_key), count(*), sum(r.enabled),
			sum(CASE WHEN a.state <> 'active' THEN 1 ELSE 0 END), COALESCE(min(w.state), 'unchecked')
		FROM notify_rules r LEFT JOIN notify_authorizations a ON a.id = r.authorization_id
			LEFT JOIN notify_repository_webhooks w
				ON w.connection = r.connection AND w.project_fold = r.project_fold AND w.repository_fold = r.repository_fold
		WHERE r.repository_fold <> '' AND (r.project_fold, r.repository_fold, r.connection) > ($1, $2, $3)
			AND r.connection IN (`+strings.Join(names, ", ")+`)
		GROUP BY r.project_fold, r.repository_fold, r.connection ORDER BY r.project_fold, r.repository_fold, r.connection LIMIT $4`, args...)
}

// UnauthorizedRepositories returns repositories with rules whose account has to be
// authorised again, but for the accounts of a user: of 1,000 at most limit that
// visible lets through.
func (s *Store) UnauthorizedRepositories(
	ctx context.Context, but int64, limit int, visible func(*notify.CloudRepository) bool,
) ([]notify.CloudRepository, error) {
	read, err := db.ReadList(ctx, s.db, "reading repositories without an account", func(row db.Row) (one notify.CloudRepository, err error) {
		err = row.Scan(&one.Connection, &one.Workspace, &one.Repository, &one.Unauthorized, db.At(&one.UnauthorizedAt))
		return one, err
	}, `SELECT r.connection, min(r.project_key), min(r.repository_key), count(*), min(a.state_at)
		FROM notify_authorizations a JOIN notify_rules r ON r.authorization_id = a.id AND r.authorization_id <> 0
		WHERE a.state <> 'active' AND a.user_id <> $1
		GROUP BY r.project_fold, r.repository_fold, r.connection
		ORDER BY r.project_fold, r.repository_fold, r.connection LIMIT $2`, but, maxRead)
	return firstOf(read, limit, visible), err
}
