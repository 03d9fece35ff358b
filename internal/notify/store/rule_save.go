package store

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// SaveRule creates a rule (ID 0) or saves one, and gives it back as it is
// now. webhookURL is the address as the caller gave it: empty keeps the
// stored one, and so does the rule's own mask.
//
// Errors: fault.Invalid for wrong members, fault.NotFound for an unknown id,
// fault.Conflict for a version that is not the present one, and
// where its place has as many as it may have.
func (s *Store) SaveRule(ctx context.Context, who notify.Actor, draft notify.Rule, webhookURL string) (notify.RuleInfo, error) {
	if err := draft.Validate(); err != nil {
		return notify.RuleInfo{}, err
	}
	var saved notify.RuleInfo
	err := s.changeRules(ctx, func(tx *db.Tx) error {
		r := draft
		var before *notify.RuleInfo
		action := "create"
		if r.ID != 0 {
			old, err := readRule(ctx, tx, r.ID)
			if err != nil {
				return err
			}
			before, action = &old, "update"
		}
		if err := s.saveRule(ctx, tx, who, &r, before, webhookURL); err != nil {
			return err
		}
		var err error
		if saved, err = readRule(ctx, tx, r.ID); err != nil || before != nil && saved.Version == before.Version {
			return err
		}
		return recordRule(ctx, tx, who, action, before, &saved)
	})
	return saved, err
}

// saveRule writes the rule. A save that changes nothing leaves its version, and
// who changed it last, as they are.
func (s *Store) saveRule(
	ctx context.Context, tx *db.Tx, who notify.Actor, r *notify.Rule, before *notify.RuleInfo, webhookURL string,
) error {
	now := tx.Now()
	r.UpdatedBy, r.UpdatedAt = who.Name, now
	if err := checkAccount(ctx, tx, r); err != nil {
		return err
	}
	keep := webhookURL == "" || secret.IsMask(webhookURL)
	if before == nil {
		if keep && r.ChannelID == 0 {
			return fault.InvalidField("webhookUrl", "Give the whole webhook URL; a new rule has none to keep.")
		}
		if err := s.checkConnection(ctx, tx, r.Connection); err != nil {
			return err
		}
		if err := checkRoom(ctx, tx, r); err != nil {
			return err
		}
		r.Version, r.CreatedBy, r.CreatedAt = 1, who.Name, now
	} else {
		if err := checkVersion(ctx, tx, before, r.Version); err != nil {
			return err
		}
		if err := notify.CheckSave(r, before, webhookURL); err != nil {
			return err
		}
		r.Version, r.CreatedBy, r.CreatedAt = before.Version+1, before.CreatedBy, before.CreatedAt
	}
	to := aim{channel: &r.ChannelID, name: &r.ChannelName, format: &r.Format, choice: r.Choice, who: who}
	if before != nil {
		to.had = before.ChannelID
	}
	if err := s.aimAt(ctx, tx, to, webhookURL); err != nil {
		return err
	}
	if before == nil {
		return insertRule(ctx, tx, r)
	}
	if !r.Differs(&before.Rule) {
		return nil
	}
	if err := updateRule(ctx, tx, r); err != nil {
		return err
	}
	return s.settleWaiting(ctx, tx, r, &before.Rule)
}

// checkVersion is fault.Conflict, and says who saved what since, where a rule is not
// at a version any more; 0 is any.
func checkVersion(ctx context.Context, tx *db.Tx, now *notify.RuleInfo, version int64) error {
	if version == 0 || version == now.Version {
		return nil
	}
	since, err := readVersionsSince(ctx, tx, &now.Rule, version)
	if err != nil {
		return err
	}
	return notify.StaleSave(since, now)
}

// checkRoom is fault.Conflict where a project or repository has as many rules as
// it may have.
func checkRoom(ctx context.Context, tx *db.Tx, r *notify.Rule) error {
	if r.ProjectKey == "" {
		return nil
	}
	n, err := countAt(ctx, tx, "notify_rules", r.Connection, r.At())
	if err == nil && n >= notify.MaxRulesAt {
		err = fault.New(fault.Conflict, "%s has %d rules, which is the limit. Delete one first.", r.At(), n)
	}
	return err
}

// countAt counts the rules or reports of exactly a place.
func countAt(ctx context.Context, tx *db.Tx, table, connection string, at notify.RepositoryRef) (n int, err error) {
	err = tx.Get(ctx, "counting what a place has", []any{&n},
		`SELECT count(*) FROM `+table+` WHERE connection = $1 AND project_fold = $2 AND repository_fold = $3`,
		connection, notify.Fold(clean(at.ProjectKey)), notify.Fold(clean(at.RepositoryKey)))
	return n, err
}

// settleWaiting settles what waits for a rule that was changed.
func (s *Store) settleWaiting(ctx context.Context, tx *db.Tx, r, before *notify.Rule) error {
	if !r.QuietHours.Equal(before.QuietHours) {
		if err := s.release(ctx, tx, r.ID, before.ChannelID); err != nil {
			return err
		}
	}
	if r.ChannelID == before.ChannelID && r.Format == before.Format && r.Enabled == before.Enabled {
		return nil
	}
	if err := s.dropUnusedURL(ctx, tx, before.ChannelID); err != nil {
		return err
	}
	return s.reroute(ctx, tx, r.ID, before.ChannelID)
}

// EnableRule switches a rule on or off and gives it back as it is now, whatever
// else of it could not be saved as it is. One that it switches on belongs to the
// authorization of that id then. Errors: fault.NotFound when there is none with
// the id, fault.Conflict for a version that is neither 0 nor the present one,
// fault.Forbidden where the account was revoked meanwhile.
func (s *Store) EnableRule(
	ctx context.Context, who notify.Actor, id, version int64, enabled bool, authorization int64,
) (saved notify.RuleInfo, err error) {
	err = s.changeRules(ctx, func(tx *db.Tx) error {
		before, err := readRule(ctx, tx, id)
		if err == nil {
			err = checkVersion(ctx, tx, &before, version)
		}
		if saved = before; err != nil || before.Enabled == enabled {
			return err
		}
		r := before.Rule
		r.Enabled, r.Version, r.UpdatedBy, r.UpdatedAt = enabled, before.Version+1, who.Name, tx.Now()
		if enabled {
			r.AuthorizationID, r.Paused = authorization, false
			if err := checkAccount(ctx, tx, &r); err != nil {
				return err
			}
		}
		if err := updateRule(ctx, tx, &r); err != nil {
			return err
		}
		if err := s.settleWaiting(ctx, tx, &r, &before.Rule); err != nil {
			return err
		}
		if saved, err = readRule(ctx, tx, id); err != nil {
			return err
		}
		return recordRule(ctx, tx, who, "update", &before, &saved)
	})
	return saved, err
}

// checkAccount refuses to save a rule with an account that was revoked since it
// was asked for.
func checkAccount(ctx context.Context, tx *db.Tx, r *notify.Rule) error {
	if r.AuthorizationID == 0 {
		return nil
	}
	var state notify.AuthorizationState
	_, err := tx.Find(ctx, "reading the account of a rule", []any{&state}, `SELECT state FROM notify_authorizations WHERE id = $1`,
		r.AuthorizationID)
	if err == nil && state == notify.AuthorizationRevoked {
		err = fault.Wrap(notify.ErrNoAccount, fault.Forbidden, "Your account was revoked in the meantime. Authorise it again, then "+
			"save the rule.")
	}
	return err
}

// pauseRules has the rules of an authorization take nothing, or take events
// again. It is no save: their versions stay, and what they were is kept. tx has
// locked the generation before it read anything: a rule that is being saved with
// the authorization is then either there already or saved by what tx writes.
func (s *Store) pauseRules(ctx context.Context, tx *db.Tx, who notify.Actor, authorization int64, paused bool) error {
	ids, err := readIDs(ctx, tx, `SELECT id FROM notify_rules
		WHERE authorization_id = $1 AND authorization_id <> 0 AND paused <> $2 ORDER BY id`,
		authorization, db.Bit(paused))
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := s.beginRulesChange(ctx, tx); err != nil {
		return err
	}
	for _, id := range ids {
		if err := keepVersion(ctx, tx, id, who.Name); err != nil {
			return err
		}
		if err := tx.Do(ctx, "pausing rule",
			`UPDATE notify_rules SET paused = $1, since = `+presentGeneration+` WHERE id = $2`, db.Bit(paused), id); err != nil {
			return err
		}
	}
	return nil
}
