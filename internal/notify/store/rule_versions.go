package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// presentGeneration is what beginRulesChange has counted to, as SQL.
const presentGeneration = `(SELECT generation FROM notify_generation)`

// versionColumns are those that a rule and its versions have alike.
const versionColumns = `version, name, connection, project_key, repository_key, project_fold, repository_fold, channel_id,
	channel_name, format, filter, options, enabled, authorization_id, paused, created_by, created_at, updated_by, updated_at, since`

// keepVersion keeps what a rule is now, which ends with the change that tx makes
// to it.
func keepVersion(ctx context.Context, tx *db.Tx, id int64, by string) error {
	return tx.Do(ctx, "keeping what the rule was", `INSERT INTO notify_rule_versions (rule_id, `+versionColumns+`, until, ended_at, ended_by)
		SELECT id, `+versionColumns+`, `+presentGeneration+`, $1, $2 FROM notify_rules WHERE id = $3`,
		db.Micros(tx.Now()), by, id)
}

// readVersionsSince returns what a rule was from a version on, the oldest first,
// without its present state. What was not kept is missing. Where a rule was
// paused between two saves, its version is there once.
func readVersionsSince(ctx context.Context, tx *db.Tx, r *notify.Rule, version int64) ([]notify.Rule, error) {
	var out []notify.Rule
	err := tx.EachRow(ctx, "reading versions of a rule", func(row db.Row) error {
		var was notify.Rule
		if err := scanRule(row, &was); err != nil {
			return err
		}
		if n := len(out); n > 0 && out[n-1].Version == was.Version {
			out = out[:n-1]
		}
		if was.Version != r.Version {
			out = append(out, was)
		}
		return nil
	}, `SELECT r.rule_id, `+ruleMembers+` FROM notify_rule_versions r
		WHERE r.rule_id = $1 AND r.version >= $2 ORDER BY r.id`, r.ID, version)
	return out, err
}

// RuleVersionsSince returns the versions of a rule from one up to, and without, its
// present one; fewer where they are not kept any more.
func (s *Store) RuleVersionsSince(ctx context.Context, now *notify.Rule, version int64) ([]notify.Rule, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]notify.Rule, error) { return readVersionsSince(ctx, tx, now, version) })
}

// RulesAt returns the rules of a moment that could concern an event, place by
// place, and by their ids within one.
func (s *Store) RulesAt(ctx context.Context, q notify.VersionQuery) (out []notify.RuleVersion, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		for i := q.After.Place; i < len(q.Places) && len(out) < q.Limit; i++ {
			after := int64(0)
			if i == q.After.Place {
				after = q.After.Rule
			}
			found, err := readVersions(ctx, tx, &q, q.Places[i], after, q.Limit-len(out))
			if err != nil {
				return err
			}
			out = append(out, found...)
		}
		return nil
	})
	return out, err
}

func readVersions(
	ctx context.Context, tx *db.Tx, q *notify.VersionQuery, at notify.Scope, after int64, limit int,
) ([]notify.RuleVersion, error) {
	const channel = `c.fingerprint, c.host, c.mask`
	const where = `JOIN notify_channels c ON c.id = r.channel_id WHERE r.project_fold = $1 AND r.repository_fold = $2
		AND r.connection = $3 AND r.since <= $4`
	return db.List(ctx, tx, "reading the rules of a moment", func(row db.Row) (v notify.RuleVersion, err error) {
		err = scanRule(row, &v.Rule, db.At(&v.Changed), &v.ChangedBy, &v.Deleted, &v.Channel.Fingerprint, &v.Channel.Host, &v.Channel.Mask)
		v.Channel.ID = v.ChannelID
		return v, err
	}, `SELECT `+ruleColumns+`, 0 AS ended_at, '' AS ended_by, 0 AS deleted, `+channel+`
			FROM notify_rules r `+where+` AND r.id > $5
		UNION ALL SELECT r.rule_id, `+ruleMembers+`, r.ended_at, r.ended_by,
			CASE WHEN EXISTS (SELECT 1 FROM notify_rules n WHERE n.id = r.rule_id) THEN 0 ELSE 1 END, `+channel+`
			FROM notify_rule_versions r `+where+` AND r.until > $4 AND r.rule_id > $5
		ORDER BY 1 LIMIT $6`,
		at.ProjectKey, at.RepositoryKey, q.Connection, q.Generation, after, limit)
}

// CountRulesElsewhere counts the rules of a moment that belong to none of the
// places, up to notify.MaxElsewhere.
func (s *Store) CountRulesElsewhere(ctx context.Context, q notify.VersionQuery) (n int, err error) {
	where := `connection = $1 AND since <= $2`
	args := []any{q.Connection, q.Generation}
	for _, at := range q.Places {
		args = append(args, at.ProjectKey, at.RepositoryKey)
		where += fmt.Sprintf(` AND NOT (project_fold = $%d AND repository_fold = $%d)`, len(args)-1, len(args))
	}
	args = append(args, notify.MaxElsewhere)
	err = s.db.Get(ctx, "counting the rules of a moment", []any{&n}, fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM notify_rules WHERE %s
		UNION ALL SELECT 1 FROM notify_rule_versions WHERE %[1]s AND until > $2 LIMIT $%d) AS found`, where, len(args)), args...)
	return n, err
}
