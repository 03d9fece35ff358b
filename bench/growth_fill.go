package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"outrigger/internal/loadtest"
)

// filled is a node whose database is filled: rows that it wrote itself are
// multiplied while it is stopped.
type filled struct {
	*loadtest.Process
	*subject
	scale float64
}

const (
	// fillEvents are multiplied: enough that copies of one are far apart.
	fillEvents = 5_000
	// fillSlice is how many rows one transaction adds: their pages fit in memory.
	fillSlice = 100_000
	// waitingChannels is what is waiting spread over: it is under the limit of a
	// channel.
	waitingChannels = 200
	// ruleRepositories is what rules are spread over.
	ruleRepositories = 2_000
)

// size is n, scaled.
func (f *filled) size(n int) int { return max(1, int(float64(n)*f.scale)) }

// keep has the database keep n events with two deliveries each.
func (f *filled) keep(ctx context.Context, n int) {
	f.deliver(ctx)
	f.change(ctx, func(tx *sql.Tx) {
		events, deliveries := columnsOf(ctx, tx, "notify_events"), columnsOf(ctx, tx, "notify_deliveries")
		for from, to := range slicesOf(f.size(n)) {
			multiply(ctx, tx, events, map[string]string{
				"id": "t.id + n * 1000000", "request_id": "NULL", "fingerprint": "NULL", "needed": "2",
				"delivery": "CASE WHEN t.delivery > 0 THEN t.delivery + n * 2000000 ELSE 0 END",
			}, from, to)
			for _, id := range []string{"t.id + n * 2000000", "t.id + n * 2000000 + 1000000"} {
				multiply(ctx, tx, deliveries, map[string]string{"id": id, "event_id": "t.event_id + n * 1000000"}, from, to)
			}
		}
	})
}

// wait has n messages wait on channels that nothing listens at.
func (f *filled) wait(ctx context.Context, n int) {
	rules := f.rules(ctx, waitingChannels, "http://127.0.0.1:1")
	f.deliver(ctx)
	f.change(ctx, func(tx *sql.Tx) {
		rule := fmt.Sprintf("(%d + (t.id + n) %% %d)", rules[0], len(rules))
		deliveries := columnsOf(ctx, tx, "notify_deliveries")
		for from, to := range slicesOf(f.size(n)) {
			multiply(ctx, tx, deliveries, map[string]string{
				"id": "t.id + n * 1000000", "state": "'waiting'", "finished_at": "0", "attempts": "0", "took": "0", "status": "0",
				"answer": "''", "rule_id": rule, "rules": "'[' || " + rule + " || ']'",
				"channel_id": "(SELECT channel_id FROM notify_rules WHERE id = " + rule + ")",
			}, from, to)
		}
	})
}

// addRules makes n rules of other repositories, on as many channels.
func (f *filled) addRules(ctx context.Context, n, channelCount int) {
	first := f.rules(ctx, f.size(channelCount), f.sink.URL())
	f.change(ctx, func(tx *sql.Tx) {
		key := fmt.Sprintf("'other-' || ((t.id + n * %d) %% %d)", len(first), ruleRepositories)
		columnsOf(ctx, tx, "notify_rules").copy(ctx, tx, map[string]string{
			"id": fmt.Sprintf("t.id + n * %d", len(first)), "repository_key": key, "repository_fold": key,
		}, fmt.Sprintf("WHERE id >= %d", first[0]), 1, f.size(n)/len(first))
	})
}

// rules makes n rules with a channel each at a URL, and returns their ids, which
// ascend.
func (f *filled) rules(ctx context.Context, n int, url string) []int64 {
	ids := make([]int64, n)
	var all errgroup.Group
	all.SetLimit(16) // writers share commits
	for i := range n {
		all.Go(func() (err error) {
			ids[i], err = f.SaveRule(ctx, loadtest.ChannelRule(channels+i, url))
			return err
		})
	}
	check(all.Wait())
	slices.Sort(ids) // the first may have been saved after others
	return ids
}

// deliver has the node take fillEvents events and deliver them.
func (f *filled) deliver(ctx context.Context) {
	f.load.Each = fillEvents / channels
	f.load.Run(ctx, 0)
	f.load.Each = 0
	f.arrived(ctx)
}

// change stops the node and changes its database.
func (f *filled) change(ctx context.Context, change func(*sql.Tx)) {
	must(f.Stop())
	file := filepath.Join(f.Settings.Dir, "outrigger.db")
	d := must(sql.Open("sqlite", "file:"+file+"?_pragma=synchronous(off)&_pragma=cache_size(-200000)"))
	defer d.Close()
	tx := must(d.BeginTx(ctx, nil))
	defer tx.Rollback()
	change(tx)
	check(tx.Commit())
}

// columns are those of a table.
type columns struct {
	table string
	names []string
}

func columnsOf(ctx context.Context, tx *sql.Tx, table string) columns {
	var names string
	check(tx.QueryRowContext(ctx, "SELECT group_concat(name) FROM pragma_table_info($1)", table).Scan(&names))
	return columns{table, strings.Split(names, ",")}
}

// copy copies the rows of a condition once for each n in [from, to]. The changes of
// columns may use n, and the row t.
func (c columns) copy(ctx context.Context, tx *sql.Tx, changes map[string]string, where string, from, to int) {
	values := make([]string, len(c.names))
	for i, name := range c.names {
		values[i] = cmp.Or(changes[name], "t."+name)
	}
	must(tx.ExecContext(ctx, fmt.Sprintf(`WITH RECURSIVE x(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM x WHERE n < %d)
		INSERT INTO %s (%s) SELECT %s FROM x, (SELECT * FROM %[3]s %[6]s) t`,
		from, to, c.table, strings.Join(c.names, ", "), strings.Join(values, ", "), where)))
}

// multiply copies the first fillEvents rows.
func multiply(ctx context.Context, tx *sql.Tx, c columns, changes map[string]string, from, to int) {
	c.copy(ctx, tx, changes, fmt.Sprintf("WHERE id < 1000000 ORDER BY id LIMIT %d", fillEvents), from, to)
}

// slicesOf are the numbers of copies that make n rows of fillEvents, from and to.
func slicesOf(n int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		copies, slice := max(1, n/fillEvents), max(1, fillSlice/fillEvents)
		for from := 1; from <= copies && yield(from, min(copies, from+slice-1)); from += slice {
		}
	}
}
