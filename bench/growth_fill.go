package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
func (f *filled) keep(ctx context.Context, n int) error {
	if err := f.deliver(ctx); err != nil {
		return err
	}
	return f.change(ctx, func(d *sql.Tx, events, deliveries columns) error {
		return inSlices(f.size(n), func(from, to int) error {
			return execAll(ctx, d,
				multiply("notify_events", events, map[string]string{
					"id": "t.id + n * 1000000", "request_id": "NULL", "fingerprint": "NULL", "needed": "2",
					"delivery": "CASE WHEN t.delivery > 0 THEN t.delivery + n * 2000000 ELSE 0 END",
				}, from, to),
				multiply("notify_deliveries", deliveries, map[string]string{
					"id": "t.id + n * 2000000", "event_id": "t.event_id + n * 1000000",
				}, from, to),
				multiply("notify_deliveries", deliveries, map[string]string{
					"id": "t.id + n * 2000000 + 1000000", "event_id": "t.event_id + n * 1000000",
				}, from, to))
		})
	}, "notify_events", "notify_deliveries")
}

// wait has n messages wait on channels that nothing listens at.
func (f *filled) wait(ctx context.Context, n int) error {
	rules, err := f.rules(ctx, waitingChannels, "http://127.0.0.1:1")
	if err != nil {
		return err
	}
	if err := f.deliver(ctx); err != nil {
		return err
	}
	return f.change(ctx, func(d *sql.Tx, deliveries, _ columns) error {
		rule := fmt.Sprintf("(%d + (t.id + n) %% %d)", rules[0], len(rules))
		return inSlices(f.size(n), func(from, to int) error {
			return execAll(ctx, d, multiply("notify_deliveries", deliveries, map[string]string{
				"id": "t.id + n * 1000000", "state": "'waiting'", "finished_at": "0", "attempts": "0", "took": "0", "status": "0", "answer": "''",
				"rule_id": rule, "rules": "'[' || " + rule + " || ']'", "channel_id": "(SELECT channel_id FROM notify_rules WHERE id = " + rule + ")",
			}, from, to))
		})
	}, "notify_deliveries", "notify_deliveries")
}

// addRules makes n rules of other repositories, on as many channels.
func (f *filled) addRules(ctx context.Context, n, channelCount int) error {
	first, err := f.rules(ctx, f.size(channelCount), f.sink.URL())
	if err != nil {
		return err
	}
	return f.change(ctx, func(d *sql.Tx, rules, _ columns) error {
		key := fmt.Sprintf("'other-' || ((t.id + n * %d) %% %d)", len(first), ruleRepositories)
		change := map[string]string{"id": fmt.Sprintf("t.id + n * %d", len(first)), "repository_key": key, "repository_fold": key}
		return execAll(ctx, d, fmt.Sprintf("INSERT INTO notify_rules (%s) SELECT %s FROM notify_rules t, %s WHERE t.id >= %d",
			strings.Join(rules, ", "), rules.with(change), numbers(1, f.size(n)/len(first)), first[0]))
	}, "notify_rules", "notify_rules")
}

// rules makes n rules with a channel each at a URL, and returns their ids, which
// ascend.
func (f *filled) rules(ctx context.Context, n int, url string) ([]int64, error) {
	ids := make([]int64, n)
	var all errgroup.Group
	all.SetLimit(16) // writers share commits
	for i := range n {
		all.Go(func() (err error) {
			ids[i], err = f.SaveRule(ctx, loadtest.ChannelRule(channels+i, url))
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	slices.Sort(ids) // the first may have been saved after others
	return ids, nil
}

// deliver has the node take fillEvents events and deliver them.
func (f *filled) deliver(ctx context.Context) error {
	f.load.Each = fillEvents / channels
	f.load.Run(ctx, 0)
	f.load.Each = 0
	arriving, cancel := context.WithTimeout(ctx, arrivalTime)
	defer cancel()
	if v := loadtest.Await(arriving, f.load, f.sink); v.Missing > 0 {
		return fmt.Errorf("%s", v)
	}
	return nil
}

// change stops the node and changes its database.
func (f *filled) change(ctx context.Context, change func(d *sql.Tx, first, second columns) error, first, second string) error {
	if _, err := f.Stop(); err != nil {
		return err
	}
	d, err := sql.Open("sqlite", "file:"+filepath.Join(f.Settings.Dir, "outrigger.db")+"?_pragma=synchronous(off)&_pragma=cache_size(-200000)")
	if err != nil {
		return err
	}
	defer d.Close()
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	one, err := columnsOf(ctx, tx, first)
	if err != nil {
		return err
	}
	two, err := columnsOf(ctx, tx, second)
	if err != nil {
		return err
	}
	if err := change(tx, one, two); err != nil {
		return err
	}
	return tx.Commit()
}

// columns are those of a table.
type columns []string

func columnsOf(ctx context.Context, d *sql.Tx, table string) (list columns, err error) {
	rows, err := d.QueryContext(ctx, "SELECT name FROM pragma_table_info('"+table+"')")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, rows.Err()
}

// with returns what to select for the columns: those of a row t, but for changes.
func (c columns) with(changes map[string]string) string {
	var list []string
	for _, name := range c {
		if sql, ok := changes[name]; ok {
			list = append(list, sql)
		} else {
			list = append(list, "t."+name)
		}
	}
	return strings.Join(list, ", ")
}

// multiply returns a statement that copies the first fillEvents rows of a table once
// for each n in [from, to]. The changes of columns may use n.
func multiply(table string, c columns, changes map[string]string, from, to int) string {
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s, (SELECT * FROM %s WHERE id < 1000000 ORDER BY id LIMIT %d) t",
		table, strings.Join(c, ", "), c.with(changes), numbers(from, to), table, fillEvents)
}

// numbers returns a subquery whose column n has the numbers in [from, to].
func numbers(from, to int) string {
	return fmt.Sprintf("(WITH RECURSIVE x(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM x WHERE n < %d) SELECT n FROM x)", from, to)
}

// inSlices calls add with the numbers of copies that make n rows of fillEvents.
func inSlices(n int, add func(from, to int) error) error {
	copies, slice := max(1, n/fillEvents), max(1, fillSlice/fillEvents)
	for from := 1; from <= copies; from += slice {
		if err := add(from, min(copies, from+slice-1)); err != nil {
			return err
		}
	}
	return nil
}

func execAll(ctx context.Context, d *sql.Tx, statements ...string) error {
	for _, s := range statements {
		began := time.Now()
		if _, err := d.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s after %s: %w", s, time.Since(began), err)
		}
	}
	return nil
}
