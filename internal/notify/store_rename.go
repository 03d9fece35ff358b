package notify

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/identity"
)

// follow moves the keys of rules and grants when verified events say that the
// platform renamed or moved what they are about. It is audited as the
// platform's doing.
func (s *Store) follow(ctx context.Context, tx *db.Tx, items []*Receipt) error {
	begun := false
	for _, r := range items {
		if r.Duplicate {
			continue
		}
		for i := range r.Events {
			by, ok := r.Events[i].renamed()
			if !ok {
				continue
			}
			if !begun {
				if err := s.rulesChange(ctx, tx); err != nil {
					return err
				}
				begun = true
			}
			if err := s.move(ctx, tx, by); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) move(ctx context.Context, tx *db.Tx, by rename) error {
	platform := Actor{Name: by.connection, Source: by.connection}
	rules, err := readRules(ctx, tx, `TRUE`)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if !by.apply(r) {
			continue
		}
		before, err := readRule(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		after := before
		after.ProjectKey, after.RepositoryKey, after.Filter = r.ProjectKey, r.RepositoryKey, r.Filter
		after.Version, after.UpdatedBy, after.UpdatedAt = before.Version+1, platform.Name, tx.Now()
		if err := updateRule(ctx, tx, &after.Rule); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE notify_rules SET project_key = $1, repository_key = $2, project_fold = $3, repository_fold = $4
			WHERE id = $5`, r.ProjectKey, r.RepositoryKey, fold(r.ProjectKey), fold(r.RepositoryKey), r.ID); err != nil {
			return fmt.Errorf("move rule: %w", err)
		}
		if err := recordRule(ctx, tx, platform, "update", &before, &after); err != nil {
			return err
		}
	}
	return identity.MoveGrants(ctx, tx,
		identity.Where{Connection: by.connection, Project: by.from.ProjectKey, Repository: by.from.RepositoryKey},
		identity.Where{Connection: by.connection, Project: by.to.ProjectKey, Repository: by.to.RepositoryKey})
}
