package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

const ruleColumns = `r.id, ` + ruleMembers

const ruleMembers = `r.version, r.name, r.connection, r.project_key, r.repository_key, r.channel_id, r.channel_name,
	r.format, r.filter, r.options, r.enabled, r.authorization_id, r.paused, r.created_by, r.created_at, r.updated_by, r.updated_at`

const channelColumns = `c.id, c.fingerprint, c.host, c.mask, c.state, c.reason, c.broken_at, c.gate_until, c.gate_step,
	c.gate_reason, c.rejected, c.refused, c.suspect, c.failing_since, c.last_ok_at`

// ListRules gives the rules of exactly the level that q's keys name, by name.
func (s *Store) ListRules(ctx context.Context, q notify.RuleQuery) (out []notify.RuleInfo, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		out, err = readRuleInfos(ctx, tx, `r.project_fold = $1 AND r.repository_fold = $2 AND ($3 = '' OR r.connection = $3)
			ORDER BY r.name, r.id`, notify.Fold(clean(q.ProjectKey)), notify.Fold(clean(q.RepositoryKey)), clean(q.Connection))
		if err != nil {
			return err
		}
		return countWaiting(ctx, tx, out, notify.MaxListed)
	})
	return out, err
}

// readRuleInfos reads the rules that a condition, perhaps with an order and a
// limit behind it, selects.
func readRuleInfos(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]notify.RuleInfo, error) {
	rows, err := tx.Query(ctx, `SELECT `+ruleColumns+`, `+channelColumns+`
		FROM notify_rules r JOIN notify_channels c ON c.id = r.channel_id WHERE `+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("reading rules: %w", err)
	}
	defer rows.Close()
	var out []notify.RuleInfo
	for rows.Next() {
		var info notify.RuleInfo
		if err := scanRuleInfo(rows, &info); err != nil {
			return nil, err
		}
		out = append(out, info)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading rules: %w", err)
	}
	if err := addAccounts(ctx, tx, out); err != nil {
		return nil, err
	}
	return out, addMaskFailures(ctx, tx, out)
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
	err := tx.Each(ctx, `SELECT count(*) FROM (SELECT 1 FROM notify_deliveries WHERE channel_id = $1 AND finished_at = 0 LIMIT $2) w`, ids,
		func(i int, row db.Row) error {
			var n int64
			err := row.Scan(&n)
			counts[ids[i][0].(int64)] = int(n)
			return err
		})
	if err != nil {
		return fmt.Errorf("counting what waits: %w", err)
	}
	for _, c := range channels {
		c.Waiting = counts[c.ID]
	}
	return nil
}

// Rule gives one rule: fault.NotFound when there is none with the id.
func (s *Store) Rule(ctx context.Context, id int64) (notify.RuleInfo, error) {
	var info notify.RuleInfo
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if info, err = readRule(ctx, tx, id); err != nil {
			return err
		}
		one := []notify.RuleInfo{info}
		err = countOwnWaiting(ctx, tx, one, maxOwnCounted)
		info = one[0]
		return err
	})
	return info, err
}

func readRule(ctx context.Context, tx *db.Tx, id int64) (notify.RuleInfo, error) {
	found, err := readRuleInfos(ctx, tx, `r.id = $1`, id)
	if err != nil {
		return notify.RuleInfo{}, err
	}
	if len(found) == 0 {
		return notify.RuleInfo{}, fault.New(fault.NotFound, "There is no rule with id %d.", id)
	}
	return found[0], countWaiting(ctx, tx, found, noLimit)
}

// readRules reads every rule that the condition selects, formats resolved.
func readRules(ctx context.Context, tx *db.Tx, condition string, failures map[int64][]notify.MaskFailure) ([]*notify.Rule, error) {
	rows, err := tx.Query(ctx, `SELECT `+ruleColumns+`, c.host
		FROM notify_rules r JOIN notify_channels c ON c.id = r.channel_id WHERE `+condition+` ORDER BY r.id`)
	if err != nil {
		return nil, fmt.Errorf("reading rules: %w", err)
	}
	defer rows.Close()
	var rules []*notify.Rule
	for rows.Next() {
		r, host := new(notify.Rule), ""
		if err := scanRule(rows, r, &host); err != nil {
			return nil, err
		}
		r.Format = r.Format.ResolveFormat(host)
		r.KeepMaskFailures(failures[r.ID])
		rules = append(rules, r)
	}
	return rules, rows.Err()
}

// maxChanged is up to how many changed rules are read one by one.
const maxChanged = 500

// readEnabled reads the enabled rules for a RuleSet. Those that have holds in
// the same version are taken from there: to read and compile 10,000 rules
// takes half a second, which no event should wait for after every save.
func readEnabled(ctx context.Context, tx *db.Tx, have *notify.RuleSet) ([]*notify.Rule, error) {
	failures, err := readMaskFailures(ctx, tx, `TRUE`)
	if err != nil {
		return nil, err
	}
	if have.Len() == 0 { // a start
		return readRules(ctx, tx, `r.enabled = 1`, failures)
	}
	rows, err := tx.Query(ctx, `SELECT id, version, paused FROM notify_rules WHERE enabled = 1`)
	if err != nil {
		return nil, fmt.Errorf("reading the versions of rules: %w", err)
	}
	defer rows.Close()
	var rules []*notify.Rule
	var changed []int64
	for rows.Next() {
		var id, version int64
		var paused bool
		if err := rows.Scan(&id, &version, &paused); err != nil {
			return nil, fmt.Errorf("reading the versions of rules: %w", err)
		}
		if r := have.Rule(id); r != nil && r.Version == version && r.Paused == paused && sameMaskFailures(r, failures[id]) {
			rules = append(rules, r)
		} else {
			changed = append(changed, id)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the versions of rules: %w", err)
	}
	switch {
	case len(changed) > maxChanged:
		return readRules(ctx, tx, `r.enabled = 1`, failures)
	case len(changed) > 0:
		read, err := readRules(ctx, tx, `r.id IN (`+list(changed)+`)`, failures)
		if err != nil {
			return nil, err
		}
		rules = append(rules, read...)
	}
	// In one order on every node: a delivery names its rules in it.
	slices.SortFunc(rules, func(a, b *notify.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return rules, nil
}

func scanRuleInfo(row db.Row, info *notify.RuleInfo) error {
	c := &info.Channel
	var brokenAt, gateUntil, failing, lastOK int64
	err := scanRule(row, &info.Rule, &c.ID, &c.Fingerprint, &c.Host, &c.Mask, &c.State, &c.Reason, &brokenAt,
		&gateUntil, &c.GateStep, &c.GateReason, &c.Rejected, &c.Refused, &c.Suspect, &failing, &lastOK)
	setTimes(c, brokenAt, gateUntil, failing, lastOK)
	return err
}

func scanRule(row db.Row, r *notify.Rule, more ...any) error {
	var filter, options string
	var created, updated int64
	err := row.Scan(append([]any{&r.ID, &r.Version, &r.Name, &r.Connection, &r.ProjectKey, &r.RepositoryKey, &r.ChannelID,
		&r.ChannelName, &r.Format, &filter, &options, &r.Enabled, &r.AuthorizationID, &r.Paused, &r.CreatedBy, &created, &r.UpdatedBy, &updated}, more...)...)
	if err != nil {
		return fmt.Errorf("reading rule: %w", err)
	}
	r.CreatedAt, r.UpdatedAt = db.Time(created), db.Time(updated)
	// A filter that cannot be read leaves the rule alone with none, which
	// matches nothing.
	r.Filter, r.Options = decodeFilter(filter), decodeOptions(options)
	return nil
}

func setTimes(c *notify.Channel, brokenAt, gateUntil, failing, lastOK int64) {
	c.BrokenAt, c.GateUntil = db.Time(brokenAt), db.Time(gateUntil)
	c.FailingSince, c.LastOKAt = db.Time(failing), db.Time(lastOK)
}

// insertRule and updateRule write the whole rule.

func insertRule(ctx context.Context, tx *db.Tx, r *notify.Rule) error {
	filter, options, err := encodeMembers(r)
	if err != nil {
		return err
	}
	err = tx.QueryRow(ctx, `INSERT INTO notify_rules (version, name, connection, project_key, repository_key, project_fold,
			repository_fold, channel_id, channel_name, format, filter, options, enabled, authorization_id, paused,
			created_by, created_at, updated_by, updated_at, since)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, `+presentGeneration+`) RETURNING id`,
		r.Version, r.Name, r.Connection, r.ProjectKey, r.RepositoryKey, notify.Fold(r.ProjectKey), notify.Fold(r.RepositoryKey), r.ChannelID,
		r.ChannelName, string(r.Format), filter, options, bit(r.Enabled), r.AuthorizationID, bit(r.Paused),
		r.CreatedBy, db.Micros(r.CreatedAt), r.UpdatedBy, db.Micros(r.UpdatedAt)).Scan(&r.ID)
	if err != nil {
		return fmt.Errorf("inserting rule: %w", err)
	}
	return nil
}

func updateRule(ctx context.Context, tx *db.Tx, r *notify.Rule) error {
	filter, options, err := encodeMembers(r)
	if err != nil {
		return err
	}
	if err := keepVersion(ctx, tx, r.ID, r.UpdatedBy); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE notify_rules SET version = $1, name = $2, channel_id = $3, channel_name = $4, format = $5,
			filter = $6, options = $7, enabled = $8, authorization_id = $9, paused = $10, updated_by = $11, updated_at = $12,
			since = `+presentGeneration+` WHERE id = $13`,
		r.Version, r.Name, r.ChannelID, r.ChannelName, string(r.Format), filter, options, bit(r.Enabled), r.AuthorizationID, bit(r.Paused),
		r.UpdatedBy, db.Micros(r.UpdatedAt), r.ID); err != nil {
		return fmt.Errorf("updating rule: %w", err)
	}
	return nil
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// DeleteRule deletes a rule: fault.NotFound when there is none. What waits
// for it alone is cancelled.
func (s *Store) DeleteRule(ctx context.Context, who notify.Actor, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := s.beginRulesChange(ctx, tx); err != nil {
			return err
		}
		old, err := readRule(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := keepVersion(ctx, tx, id, who.Name); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM notify_rules WHERE id = $1`, id); err != nil {
			return fmt.Errorf("deleting rule: %w", err)
		}
		if err := dropUnusedURL(ctx, tx, old.ChannelID); err != nil {
			return err
		}
		if err := s.reroute(ctx, tx, id, old.ChannelID); err != nil {
			return err
		}
		return recordRule(ctx, tx, who, "delete", &old, nil)
	})
}

func recordRule(ctx context.Context, tx *db.Tx, who notify.Actor, action string, before, after *notify.RuleInfo) error {
	of := after
	if of == nil {
		of = before
	}
	return audit.Record(ctx, tx, audit.Entry{
		At: tx.Now(), Who: who.Name, Source: who.Source, Address: who.Address, RequestID: who.RequestID,
		Area: "notifications", Action: action, Object: "rule", ObjectID: fmt.Sprint(of.ID), ObjectName: of.Name,
		Connection: of.Connection, Project: of.ProjectKey, Repository: of.RepositoryKey,
		Before: before.Audited(), After: after.Audited(),
	})
}
