package store

import (
	"context"
	"errors"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// applyRenames has rules, reports and hooks follow when verified events say that the platform
// renamed or moved what they are about, as far as a webhook's word goes: only
// where the hook's scope holds both keys, and nothing is at the new one yet.
// What it says beyond that is offered to an administrator.
func (s *Store) applyRenames(ctx context.Context, tx *db.Tx, items []*notify.Receipt) error {
	begun := false
	for _, r := range items {
		if !r.Written() {
			continue
		}
		for i := range r.Events {
			by, ok := r.Events[i].KeyChange()
			if !ok || !r.Verifier.MayOffer(by) {
				continue
			}
			if !begun {
				if err := s.beginPlatformsChange(ctx, tx); err != nil {
					return err
				}
				begun = true
			}
			if err := s.moveOrOffer(ctx, tx, r, by); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) moveOrOffer(ctx context.Context, tx *db.Tx, r *notify.Receipt, by notify.KeyChange) error {
	left, err := leftBehind(ctx, tx, by)
	if err != nil {
		return err
	}
	there, err := whatIsAt(ctx, tx, by.Connection, by.To, left.at(by.To))
	if err != nil {
		return err
	}
	here, err := whatIsAt(ctx, tx, by.Connection, by.From, time.Time{})
	if err != nil {
		return err
	}
	outcome := r.Verifier.JudgeRename(by, here, there)
	if outcome.Move {
		platform := notify.Actor{Name: by.Connection, Source: by.Connection, Address: r.Address, RequestID: r.AnswerID}
		if err := errors.Join(s.move(ctx, tx, platform, outcome.Change), left.follow(ctx, tx, by.To)); err != nil {
			return err
		}
	}
	if err := endDone(ctx, tx, r.Verifier, by, outcome.Move); err != nil {
		return err
	}
	if outcome.Offer == "" || foldKey(outcome.Change.From) == foldKey(outcome.Change.To) { // it is back where it was
		return nil
	}
	return offer(ctx, tx, r.Verifier, outcome.Change, outcome.Offer)
}

// whatIsAt counts what is at a key; of grants those that were made since a time.
func whatIsAt(ctx context.Context, tx *db.Tx, connection string, at notify.Scope, since time.Time) (notify.Occupants, error) {
	var p notify.Occupants
	project, repository := notify.Fold(at.ProjectKey), notify.Fold(at.RepositoryKey)
	const keys = ` WHERE connection = $1 AND project_fold = $2 AND ($3 = '' OR repository_fold = $3)`
	err := tx.Get(ctx, "counting what is at a key", []any{&p.Rules, &p.Reports, &p.Hooks},
		`SELECT (SELECT count(*) FROM notify_rules`+keys+`), (SELECT count(*) FROM notify_reports`+keys+`),
			(SELECT count(*) FROM notify_hooks`+keys+`)`, connection, project, repository)
	if err == nil {
		p.Grants, err = identity.CountGrants(ctx, tx, identity.Resource{Connection: connection, Project: at.ProjectKey,
			Repository: at.RepositoryKey}, since)
	}
	return p, err
}

// offer keeps a rename for an administrator. A hook offers each old key once:
// the last new one counts, and is another offer, since the one before may be on
// a reader's screen.
func offer(ctx context.Context, tx *db.Tx, hook *notify.Hook, by notify.KeyChange, why notify.RenameReason) error {
	from := foldKey(by.From)
	before, err := readRenames(ctx, tx, presentOffer, by.Connection, hook.ID, from)
	if err != nil {
		return err
	}
	for _, o := range before {
		if o.Reason == why && foldKey(o.To) == foldKey(by.To) {
			return tx.Do(ctx, "offering a rename again", `UPDATE notify_renames SET offered_at = $1 WHERE id = $2`, db.Micros(tx.Now()), o.ID)
		}
		if err := replaceOffer(ctx, tx, o.ID, from); err != nil {
			return err
		}
	}
	return insertOffer(ctx, tx, hook, by, why, tx.Now())
}

func insertOffer(ctx context.Context, tx *db.Tx, hook *notify.Hook, by notify.KeyChange, why notify.RenameReason, at time.Time) error {
	return tx.Do(ctx, "offering a rename", `INSERT INTO notify_renames (connection, hook_id, hook, from_project, from_repository, from_fold,
			to_project, to_repository, reason, state, offered_at, decided_by, decided_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'offered', $10, '', 0)`,
		by.Connection, hook.ID, hook.Name, by.From.ProjectKey, by.From.RepositoryKey, foldKey(by.From),
		by.To.ProjectKey, by.To.RepositoryKey, string(why), db.Micros(at))
}

// presentOffer is the condition of the offer that a hook makes of an old key.
const presentOffer = `state = 'offered' AND connection = $1 AND hook_id = $2 AND from_fold = $3`

func foldKey(ref notify.RepositoryRef) string {
	return notify.Fold(ref.ProjectKey) + "/" + notify.Fold(ref.RepositoryKey)
}

// replacedKept is how long an offer that was replaced is known by its id: a
// page may stay open for a day.
const replacedKept = 24 * time.Hour

// replaceOffer ends an offer for another one, and deletes those that ended so
// long ago: a hook can say as many as it likes.
func replaceOffer(ctx context.Context, tx *db.Tx, id int64, from string) error {
	if err := tx.Do(ctx, "deleting replaced renames",
		`DELETE FROM notify_renames WHERE state = 'replaced' AND from_fold = $1 AND decided_at < $2`,
		from, db.Micros(tx.Now().Add(-replacedKept))); err != nil {
		return err
	}
	return tx.Do(ctx, "replacing a rename",
		`UPDATE notify_renames SET state = 'replaced', decided_at = $1 WHERE id = $2`, db.Micros(tx.Now()), id)
}

// move has rules, reports, the scopes of hooks and what is known of the platform
// go by their new keys.
func (s *Store) move(ctx context.Context, tx *db.Tx, who notify.Actor, by notify.KeyChange) error {
	if err := moveRules(ctx, tx, who, by); err != nil {
		return err
	}
	if err := moveReports(ctx, tx, who, by); err != nil {
		return err
	}
	if err := errors.Join(movePullRequests(ctx, tx, by), moveBuilds(ctx, tx, by), moveRepositoryWebhooks(ctx, tx, by)); err != nil {
		return err
	}
	hooks, err := s.readHooks(ctx, tx)
	if err != nil {
		return err
	}
	for _, h := range hooks {
		to, ok := by.Ref(h.Scope)
		if !ok || h.Connection != by.Connection {
			continue
		}
		if err := tx.Do(ctx, "moving hook",
			`UPDATE notify_hooks SET project_key = $1, repository_key = $2, project_fold = $3, repository_fold = $4 WHERE id = $5`,
			to.ProjectKey, to.RepositoryKey, notify.Fold(to.ProjectKey), notify.Fold(to.RepositoryKey), h.ID); err != nil {
			return err
		}
		after := *h
		after.Scope = to
		if err := recordHook(ctx, tx, who, "update", h, &after); err != nil {
			return err
		}
	}
	return nil
}

func moveRules(ctx context.Context, tx *db.Tx, who notify.Actor, by notify.KeyChange) error {
	rules, err := readRules(ctx, tx, `TRUE`, nil)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if !by.Apply(r) {
			continue
		}
		before, err := readRule(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		after := before
		after.ProjectKey, after.RepositoryKey, after.Filter = r.ProjectKey, r.RepositoryKey, r.Filter
		after.Version, after.UpdatedBy, after.UpdatedAt = before.Version+1, who.Name, tx.Now()
		if err := updateRule(ctx, tx, &after.Rule); err != nil {
			return err
		}
		if err := recordRule(ctx, tx, who, "update", &before, &after); err != nil {
			return err
		}
	}
	return nil
}

func moveReports(ctx context.Context, tx *db.Tx, who notify.Actor, by notify.KeyChange) error {
	reports, err := readReports(ctx, tx, `r.connection = $1 AND r.project_fold = $2`, by.Connection, notify.Fold(by.From.ProjectKey))
	if err != nil {
		return err
	}
	for i := range reports {
		before, after := &reports[i], reports[i]
		if !by.ApplyReport(&after.Report) {
			continue
		}
		after.Version, after.UpdatedBy, after.UpdatedAt = before.Version+1, who.Name, tx.Now()
		if err := updateReport(ctx, tx, &after.Report); err != nil {
			return err
		}
		if err := recordReport(ctx, tx, who, "update", before, &after); err != nil {
			return err
		}
	}
	return nil
}
