package store

import (
	"context"
	"fmt"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// CloudRepositories gives one page of the repositories that have rules, on some
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

func readCloudRepositories(ctx context.Context, tx *db.Tx, p notify.CloudRepositoryPage, limit int) (out []notify.CloudRepository, err error) {
	args := []any{notify.Fold(clean(p.After.Workspace)), notify.Fold(clean(p.After.Repository)), clean(p.After.Connection), limit}
	var names []string
	for _, name := range p.Connections {
		args = append(args, name)
		names = append(names, fmt.Sprintf("$%d", len(args)))
	}
	rows, err := tx.Query(ctx, `SELECT r.connection, min(r.project_key), min(r.repository_key), count(*), sum(r.enabled),
			sum(CASE WHEN a.state <> 'active' THEN 1 ELSE 0 END)
		FROM notify_rules r LEFT JOIN notify_authorizations a ON a.id = r.authorization_id
		WHERE r.repository_fold <> '' AND (r.project_fold, r.repository_fold, r.connection) > ($1, $2, $3) AND r.connection IN (`+strings.Join(names, ", ")+`)
		GROUP BY r.project_fold, r.repository_fold, r.connection ORDER BY r.project_fold, r.repository_fold, r.connection LIMIT $4`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the repositories of rules: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var one notify.CloudRepository
		if err := rows.Scan(&one.Connection, &one.Workspace, &one.Repository, &one.Rules, &one.Enabled, &one.Unauthorized); err != nil {
			return nil, fmt.Errorf("reading a repository of rules: %w", err)
		}
		out = append(out, one)
	}
	return out, rows.Err()
}
