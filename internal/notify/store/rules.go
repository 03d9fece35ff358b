package store

import (
	"cmp"
	"context"
	"fmt"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// ListRules returns the rules of exactly the level that q's keys name, by name.
func (s *Store) ListRules(ctx context.Context, q notify.RuleQuery) ([]notify.RuleInfo, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]notify.RuleInfo, error) {
		out, err := readRuleInfos(ctx, tx, `r.project_fold = $1 AND r.repository_fold = $2 AND ($3 = '' OR r.connection = $3)
			ORDER BY r.name, r.id`, notify.Fold(clean(q.ProjectKey)), notify.Fold(clean(q.RepositoryKey)), clean(q.Connection))
		if err == nil {
			err = countWaiting(ctx, tx, out, notify.MaxListed)
		}
		return out, err
	})
}

// countWaiting sets how many messages wait on the rules' channels, up to most.
func countWaiting(ctx context.Context, tx *db.Tx, rules []notify.RuleInfo, most int) error {
	channels := make([]*notify.Channel, len(rules))
	for i := range rules {
		channels[i] = &rules[i].Channel
	}
	return countChannelsWaiting(ctx, tx, channels, most)
}

// countChannelsWaiting sets how many messages wait on channels, up to most, each
// counted once however often it is there.
func countChannelsWaiting(ctx context.Context, tx *db.Tx, channels []*notify.Channel, most int) error {
	counts := make(map[int64]int)
	var ids [][]any
	for _, c := range channels {
		if _, ok := counts[c.ID]; !ok {
			counts[c.ID] = 0
			ids = append(ids, []any{c.ID, most})
		}
	}
	if err := tx.Each(ctx, "counting what waits",
		`SELECT count(*) FROM (SELECT 1 FROM notify_deliveries WHERE channel_id = $1 AND finished_at = 0 LIMIT $2) w`, ids,
		func(i int, row db.Row) error {
			var n int64
			err := row.Scan(&n)
			counts[ids[i][0].(int64)] = int(n)
			return err
		}); err != nil {
		return err
	}
	for _, c := range channels {
		c.Waiting = counts[c.ID]
	}
	return nil
}

// Rule returns one rule: fault.NotFound when there is none with the id.
func (s *Store) Rule(ctx context.Context, id int64) (notify.RuleInfo, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (notify.RuleInfo, error) {
		info, err := readRule(ctx, tx, id)
		one := []notify.RuleInfo{info}
		if err == nil {
			err = countOwnWaiting(ctx, tx, one, maxOwnCounted)
		}
		return one[0], err
	})
}

func readRule(ctx context.Context, tx *db.Tx, id int64) (notify.RuleInfo, error) {
	found, err := readRuleInfos(ctx, tx, `r.id = $1`, id)
	if err == nil {
		err = countWaiting(ctx, tx, found, noLimit)
	}
	return only(found, err, "There is no rule with id %d.", id)
}

// DeleteRule deletes a rule: fault.NotFound when there is none, fault.Conflict for
// a version that is neither 0 nor the present one. What waits for it alone is
// cancelled.
func (s *Store) DeleteRule(ctx context.Context, who notify.Actor, id, version int64) error {
	return s.changeRules(ctx, func(tx *db.Tx) error {
		old, err := readRule(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := checkVersion(ctx, tx, &old, version); err != nil {
			return err
		}
		if err := keepVersion(ctx, tx, id, who.Name); err != nil {
			return err
		}
		if err := tx.Do(ctx, "deleting rule", `DELETE FROM notify_rules WHERE id = $1`, id); err != nil {
			return err
		}
		if err := s.dropUnusedURL(ctx, tx, old.ChannelID); err != nil {
			return err
		}
		if err := s.reroute(ctx, tx, id, old.ChannelID); err != nil {
			return err
		}
		return recordRule(ctx, tx, who, "delete", &old, nil)
	})
}

func recordRule(ctx context.Context, tx *db.Tx, who notify.Actor, action string, before, after *notify.RuleInfo) error {
	of := cmp.Or(after, before)
	e := who.AuditEntry(action, "rule", fmt.Sprint(of.ID), before.Audited(), after.Audited())
	e.ObjectName = of.Name
	e.Connection, e.Project, e.Repository = of.Connection, of.ProjectKey, of.RepositoryKey
	return audit.Record(ctx, tx, e)
}
