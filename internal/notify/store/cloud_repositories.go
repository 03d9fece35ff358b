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
func (s *Store) CloudRepositories(ctx context.Context, p notify.CloudRepositoryPage) (out []notify.CloudRepository, err error) {
	if len(p.Connections) == 0 {
		return nil, nil
	}
	for limit := p.Limit; len(out) < p.Limit; limit = maxRead {
		var read []notify.CloudRepository
		err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			read, err = readCloudRepositories(ctx, tx, p, limit)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i := range read {
			if p.Visible(&read[i]) && len(out) < p.Limit {
				out = append(out, read[i])
			}
		}
		if len(read) < limit {
			break
		}
		p.After = read[len(read)-1]
	}
	return out, nil
}

func readCloudRepositories(ctx context.Context, tx *db.Tx, p notify.CloudRepositoryPage, limit int) ([]notify.CloudRepository, error) {
	args := []any{notify.Fold(clean(p.After.Workspace)), notify.Fold(clean(p.After.Repository)), clean(p.After.Connection), limit}
	var names []string
	for _, name := range p.Connections {
		args = append(args, name)
		names = append(names, fmt.Sprintf("$%d", len(args)))
	}
	return db.List(ctx, tx, "reading the repositories of rules", func(row db.Row) (one notify.CloudRepository, err error) {
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
) (out []notify.CloudRepository, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.EachRow(ctx, "reading repositories without an account", func(row db.Row) error {
			var one notify.CloudRepository
			if err := row.Scan(&one.Connection, &one.Workspace, &one.Repository, &one.Unauthorized, db.At(&one.UnauthorizedAt)); err != nil {
				return err
			}
			if len(out) < limit && visible(&one) {
				out = append(out, one)
			}
			return nil
		}, `SELECT r.connection, min(r.project_key), min(r.repository_key), count(*), min(a.state_at)
			FROM notify_authorizations a JOIN notify_rules r ON r.authorization_id = a.id AND r.authorization_id <> 0
			WHERE a.state <> 'active' AND a.user_id <> $1
			GROUP BY r.project_fold, r.repository_fold, r.connection
			ORDER BY r.project_fold, r.repository_fold, r.connection LIMIT $2`, but, maxRead)
	})
	return out, err
}
