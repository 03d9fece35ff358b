package store

import (
	"context"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// FailMask counts that a mask of a rule took too many steps. When it returns,
// this node knows whether the mask is run again; others do before they take
// their next event.
func (s *Store) FailMask(ctx context.Context, f notify.MaskFailure) error {
	return s.changeRules(ctx, func(tx *db.Tx) error {
		return tx.Do(ctx, "counting a failure of a mask",
			`INSERT INTO notify_mask_failures (rule_id, member, fingerprint, times, error, failed_at)
			SELECT id, $1, $2, 1, $3, $4 FROM notify_rules WHERE id = $5
			ON CONFLICT (rule_id, member) DO UPDATE SET
				times = CASE WHEN notify_mask_failures.fingerprint = excluded.fingerprint THEN notify_mask_failures.times + 1 ELSE 1 END,
				fingerprint = excluded.fingerprint, error = excluded.error, failed_at = excluded.failed_at`,
			f.Member, f.Fingerprint, clean(f.Error), db.Micros(tx.Now()), f.RuleID)
	})
}

// readMaskFailures reads those that a condition selects, by rule.
func readMaskFailures(ctx context.Context, tx *db.Tx, condition string) (map[int64][]notify.MaskFailure, error) {
	found := make(map[int64][]notify.MaskFailure)
	return found, tx.EachRow(ctx, "reading failures of masks", func(row db.Row) error {
		var f notify.MaskFailure
		err := row.Scan(&f.RuleID, &f.Member, &f.Fingerprint, &f.Times, &f.Error, db.At(&f.At))
		found[f.RuleID] = append(found[f.RuleID], f)
		return err
	}, `SELECT rule_id, member, fingerprint, times, error, failed_at FROM notify_mask_failures
		WHERE `+condition+` ORDER BY rule_id, member`)
}

// addMaskFailures has rules know of the failures of their masks.
func addMaskFailures(ctx context.Context, tx *db.Tx, rules []notify.RuleInfo) error {
	if len(rules) == 0 {
		return nil
	}
	ids := make([]int64, len(rules))
	for i := range rules {
		ids[i] = rules[i].ID
	}
	failures, err := readMaskFailures(ctx, tx, `rule_id IN (`+list(ids)+`)`)
	for i := range rules {
		rules[i].KeepMaskFailures(failures[rules[i].ID])
	}
	return err
}

// sameMaskFailures reports whether the rule knows of the failures of its masks.
func sameMaskFailures(r *notify.Rule, failures []notify.MaskFailure) bool {
	if len(failures) == 0 && len(r.MaskFailures) == 0 {
		return true
	}
	now := notify.Rule{Filter: r.Filter}
	now.KeepMaskFailures(failures)
	return slices.Equal(now.MaskFailures, r.MaskFailures)
}
