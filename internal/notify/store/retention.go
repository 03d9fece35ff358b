package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/db"
)

// DeleteDeliveries deletes deliveries that ended before a time, at most limit
// of them, with their attempts. What waits stays. An event that no delivery
// needs any more is left to DeleteEvents.
func DeleteDeliveries(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	bound, err := firstSince(ctx, tx, "notify_deliveries", "created_at", before)
	if err != nil {
		return 0, err
	}
	var deliveries []int64
	var links, events [][]any
	// Locked, because another node may put one back meanwhile.
	err = tx.EachRow(ctx, "reading old deliveries", func(row db.Row) error {
		var id, event int64
		var encoded string
		err := row.Scan(&id, &event, &encoded)
		deliveries, events = append(deliveries, id), append(events, []any{event})
		rules := decodeIDs(encoded)
		for _, r := range rules[min(1, len(rules)):] {
			links = append(links, []any{r, id})
		}
		return err
	}, `SELECT id, event_id, rules FROM notify_deliveries
		WHERE id < $1 AND finished_at > 0 AND finished_at < $2 ORDER BY id LIMIT $3`+tx.ForUpdate(), bound, db.Micros(before), limit)
	if err != nil || len(deliveries) == 0 {
		return 0, err
	}
	if err := tx.Each(ctx, "deleting old deliveries' rules",
		`DELETE FROM notify_delivery_rules WHERE rule_id = $1 AND delivery_id = $2`, links, nil); err != nil {
		return 0, err
	}
	if err := tx.Each(ctx, "releasing old deliveries' events",
		`UPDATE notify_events SET needed = needed - 1 WHERE id = $1`, events, nil); err != nil {
		return 0, err
	}
	return int64(len(deliveries)), tx.DoAll(ctx, "deleting old deliveries", []string{
		`DELETE FROM notify_attempts WHERE delivery_id IN (` + list(deliveries) + `)`,
		`DELETE FROM notify_deliveries WHERE id IN (` + list(deliveries) + `)`,
	})
}

// DeleteEvents deletes events that came in before a time and that no delivery
// needs, at most limit of them.
func DeleteEvents(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	bound, err := firstSince(ctx, tx, "notify_events", "received_at", before)
	if err != nil {
		return 0, err
	}
	old, err := readIDs(ctx, tx, `SELECT id FROM notify_events WHERE needed = 0 AND id < $1 AND received_at < $2 ORDER BY id LIMIT $3`,
		bound, db.Micros(before), limit)
	if err != nil || len(old) == 0 {
		return 0, err
	}
	return int64(len(old)), tx.DoAll(ctx, "deleting old events", []string{
		`DELETE FROM notify_decisions WHERE event_id IN (` + list(old) + `)`,
		`DELETE FROM notify_events WHERE id IN (` + list(old) + `)`,
	})
}

// list writes ids for an IN.
func list(ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	return b.String()
}

// deleteOld deletes rows of a table whose time, in a column, is before another, the
// oldest first, and at most limit of them. The time is asked for twice: PostgreSQL
// asks only the outer condition again of a row that another node has just changed.
func deleteOld(ctx context.Context, tx *db.Tx, what, table, key, column string, before time.Time, limit int) (int64, error) {
	return tx.Changed(ctx, "deleting "+what, fmt.Sprintf(`DELETE FROM %[1]s WHERE (%[2]s) IN
		(SELECT %[2]s FROM %[1]s WHERE %[3]s < $1 ORDER BY %[3]s LIMIT $2) AND %[3]s < $1`, table, key, column), db.Micros(before), limit)
}

// DeleteMemberships removes answers from before a time; see retention.Rule.
func DeleteMemberships(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return deleteOld(ctx, tx, "group members", "notify_memberships", "connection, group_name, user_name", "asked_at", before, limit)
}

// DeleteRuleVersions deletes what rules were until before a time, at most limit
// of them, unless an event that is still kept was judged by it.
func DeleteRuleVersions(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	bound, err := firstSince(ctx, tx, "notify_rule_versions", "ended_at", before)
	if err != nil {
		return 0, err
	}
	// Generations ascend with the ids of events.
	return tx.Changed(ctx, "deleting old versions of rules", `DELETE FROM notify_rule_versions WHERE id IN (SELECT id FROM notify_rule_versions
		WHERE id < $1 AND until <= coalesce((SELECT generation FROM notify_events ORDER BY id LIMIT 1), until) ORDER BY id LIMIT $2)`, bound,
		limit)
}

// DeleteCommits removes commits that were named before a time; see
// retention.Rule.
func DeleteCommits(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return deleteOld(ctx, tx, "named commits", "notify_commits", "connection, hash, project_fold, repository_fold", "named_at", before,
		limit)
}
