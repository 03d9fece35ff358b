package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/message"
)

// yearly are reports over the zones of both hemispheres, with whole and broken
// offsets, on the days and at the time at which clocks are changed.
var yearly = []notify.ReportSchedule{
	{Frequency: notify.Weekly, Day: "SUNDAY", Time: "02:30", TimeZone: "Europe/Berlin"},
	{Frequency: notify.Weekly, Day: "SUNDAY", Time: "02:30", TimeZone: "America/New_York"},
	{Frequency: notify.Weekly, Day: "SUNDAY", Time: "02:15", TimeZone: "Australia/Lord_Howe"},
	{Frequency: notify.Weekly, Day: "SUNDAY", Time: "01:30", TimeZone: "America/St_Johns"},
	{Frequency: notify.Weekly, Day: "SUNDAY", Time: "03:15", TimeZone: "Pacific/Chatham"},
	{Frequency: notify.Weekly, Day: "SUNDAY", Time: "02:30", TimeZone: "Africa/Casablanca"},
	{Frequency: notify.Weekly, Day: "FRIDAY", Time: "09:00", TimeZone: "America/Sao_Paulo"},
	{Frequency: notify.Weekly, Day: "MONDAY", Time: "00:00", TimeZone: "Asia/Kolkata"},
	{Frequency: notify.WorkingDay, Time: "02:30", TimeZone: "Europe/Berlin"},
	{Frequency: notify.Daily, Time: "02:30", TimeZone: "Europe/Berlin"},
}

// mortal is a node that may die at any of its steps.
type mortal struct {
	*node
	db    *db.DB
	ctx   context.Context
	dead  context.CancelFunc
	gone  atomic.Bool
	fates *fates
}

// fates decide which node dies when, and when the platform does not answer.
type fates struct {
	mu     sync.Mutex
	odds   float64 // of death at a step
	random *rand.Rand
	deaths map[string]int
}

func (f *fates) strike(odds float64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.Float64() < odds
}

var errDied = errors.New("the process died")

// step is a moment of a node's life, which may be its last. A process that dies
// leaves its lease behind and loses its connections.
func (m *mortal) step(name string) error {
	if m.gone.Load() {
		return errDied
	}
	if !m.fates.strike(m.fates.odds) {
		return nil
	}
	m.die()
	m.fates.mu.Lock()
	defer m.fates.mu.Unlock()
	m.fates.deaths[name]++
	return errDied
}

func (m *mortal) die() {
	if m.gone.CompareAndSwap(false, true) {
		m.dead()
		_ = m.db.Close() // what was under way fails
	}
}

// DueReports, KeepRun and OpenPullRequests are the node's, with a step on either
// side of what counts.

func (m *mortal) DueReports(ctx context.Context, now time.Time, limit int) ([]notify.ReportInfo, error) {
	return m.store.DueReports(ctx, now, limit)
}

func (m *mortal) KeepRun(ctx context.Context, run *notify.ReportRun) (bool, error) {
	if err := m.step("before the commit"); err != nil {
		return false, err
	}
	kept, err := m.store.KeepRun(ctx, run)
	return kept, errors.Join(err, m.step("after the commit"))
}

func (m *mortal) ask(context.Context, notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
	if err := m.step("while it asks"); err != nil {
		return nil, err
	}
	if m.fates.strike(0.03) {
		return nil, fault.New(fault.Unavailable, "The platform is down for maintenance.")
	}
	return []notify.OpenPullRequest{{ID: 1}}, nil
}

// weekly are five reports as teams have them: most at nine, some at one time.
var weekly = []notify.ReportSchedule{
	{Frequency: notify.Daily, Time: "09:00", TimeZone: "UTC"},
	{Frequency: notify.Daily, Time: "09:00", TimeZone: "Europe/Berlin"},
	{Frequency: notify.WorkingDay, Time: "09:00", TimeZone: "UTC"},
	{Frequency: notify.Daily, Time: "09:01", TimeZone: "UTC"},
	{Frequency: notify.Weekly, Day: "THURSDAY", Time: "16:30", TimeZone: "America/New_York"},
}

// Three nodes share the due times of reports of one connection on one PostgreSQL,
// dying at random, while the platform fails at random: each due time is run once,
// and has a card of its own.
func TestEachDueTimeIsRunOnce(t *testing.T) {
	t.Run("a week of five reports", func(t *testing.T) { runPeriod(t, weekly, monday, monday.AddDate(0, 0, 7), 0.15) })
	t.Run("a year", func(t *testing.T) {
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		runPeriod(t, yearly, from, from.AddDate(1, 0, 0), 0.03)
	})
}

// runPeriod runs reports of as many repositories over a period, on nodes that die
// with the odds at each of their steps.
func runPeriod(t *testing.T, schedules []notify.ReportSchedule, from, until time.Time, odds float64) {
	url := dbtest.PostgresURL(t)
	first := dbtest.Open(t, db.Options{URL: url, NodeID: "observer"})
	if err := first.Migrate(t.Context(), schema...); err != nil {
		t.Fatal(err)
	}
	now := &clock{now: from}
	observer := newNode(t, first, "observer", now)
	want := make(map[int64][]time.Time)
	for i, s := range schedules {
		info, err := observer.store.SaveReport(t.Context(), ada, notify.Report{
			Name: fmt.Sprint(i), Connection: "dc", ProjectKey: "ATL", RepositoryKey: fmt.Sprintf("canoe-%d", i), Format: notify.Auto,
			Enabled: true, ReportContent: notify.ReportContent{InactivityDays: 7}, ReportSchedule: s,
		}, fmt.Sprintf("https://hooks.slack.com/services/T0/B0/%d", i/2), from) // two of a channel
		if err != nil {
			t.Fatal(err)
		}
		for due := s.Next(from); due.Before(until); due = s.Next(due) {
			want[info.ID] = append(want[info.ID], due)
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	f := &fates{odds: odds, random: rand.New(rand.NewPCG(seed, 0)), deaths: make(map[string]int)}
	nodes := make([]*mortal, 3)
	rounds := 0
	for ; !t.Failed(); rounds++ {
		next := nextTurn(t, first)
		if !next.Before(until) {
			break
		}
		if now.Now().Before(next) {
			now.set(next)
		} else {
			now.set(now.Now().Add(every))
		}
		lookAll(t, url, now, f, nodes)
		lapse(t, first, nodes)
		// A fault must end the test, which else goes on by a few seconds a round.
		var passed, all int
		for _, due := range want {
			n, _ := slices.BinarySearchFunc(due, now.Now(), func(at, by time.Time) int { return cmp.Or(at.Compare(by), -1) })
			passed, all = passed+n, all+len(due)
		}
		if sent := countDeliveries(t, first); sent > passed || rounds > 5*all {
			t.Errorf("%d deliveries for %d due times by %s, after %d rounds", sent, passed, now.Now(), rounds)
		}
	}
	for _, m := range nodes {
		if m != nil {
			m.die()
		}
	}
	t.Logf("deaths %v, rounds %d", f.deaths, rounds)
	if t.Failed() { // the period is not over
		return
	}
	for id, due := range want {
		checkRuns(t, first, id, due)
		checkCards(t, observer, id, due)
	}
	if len(f.deaths) < 3 {
		t.Errorf("nodes died only %v", f.deaths)
	}
}

// checkCards holds what a report sent against its due times: each message says
// what was asked then, of its own repository.
func checkCards(t *testing.T, n *node, report int64, want []time.Time) {
	t.Helper()
	info, err := n.store.Report(t.Context(), report)
	if err != nil {
		t.Fatal(err)
	}
	list, err := n.store.ListDeliveries(t.Context(), notify.DeliveryFilter{ReportID: report, Limit: len(want) + 1})
	if err != nil || len(list) != len(want) {
		t.Fatalf("report %d: %d deliveries for %d due times, %v", report, len(list), len(want), err)
	}
	slices.Reverse(list)
	for i, d := range list {
		if d.Event == nil {
			t.Fatalf("report %d, due at %s: its event is not there", report, want[i])
		}
		if late := d.Event.At.Sub(want[i]); late < 0 || late > 2*time.Hour || d.Event.Report.Report != report {
			t.Errorf("report %d, due at %s: it sends %+v", report, want[i], d.Event)
		}
		message := string(message.Card(card.New(d.Event), d.Format))
		if !strings.Contains(message, info.Name+": 1 open pull request") || !strings.Contains(message, info.RepositoryKey) {
			t.Errorf("report %d, due at %s: its card is %s", report, want[i], message)
		}
	}
}

func countDeliveries(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	if err := d.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM notify_deliveries`).Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// nextTurn is when the next report has its turn.
func nextTurn(t *testing.T, d *db.DB) (at time.Time) {
	t.Helper()
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		var us int64
		err := tx.QueryRow(t.Context(), `SELECT min(ask_at) FROM notify_reports WHERE ask_at > 0`).Scan(&us)
		at = db.Time(us)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// lookAll has most nodes that live look for what is due, all at the same time.
// Those that died are started again, or are left dead until their lease lapses.
func lookAll(t *testing.T, url string, now *clock, f *fates, nodes []*mortal) {
	t.Helper()
	var looking sync.WaitGroup
	for i, m := range nodes {
		if m == nil || m.gone.Load() {
			if m != nil && f.strike(0.3) {
				continue
			}
			m = startMortal(t, url, fmt.Sprintf("node_%d", i+1), now, f)
			nodes[i] = m
		}
		if f.strike(0.4) { // their rounds begin at different times
			continue
		}
		looking.Go(func() {
			if _, err := m.runner.runOnce(m.ctx); err != nil && !m.gone.Load() {
				t.Errorf("a node that lives: %v", err)
			}
		})
	}
	looking.Wait()
}

func startMortal(t *testing.T, url, id string, now *clock, f *fates) *mortal {
	t.Helper()
	d, err := db.Open(t.Context(), db.Options{URL: url, NodeID: id})
	if err != nil {
		t.Fatal(err)
	}
	m := &mortal{node: newNode(t, d, id, now), db: d, fates: f}
	m.ctx, m.dead = context.WithCancel(t.Context())
	m.list = m.ask
	m.runner.Store = m
	return m
}

// lapse has the lease of a node that died run out, as it does after 20 s.
func lapse(t *testing.T, d *db.DB, nodes []*mortal) {
	t.Helper()
	for i, m := range nodes {
		if m == nil || !m.gone.Load() {
			continue
		}
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE leases SET expires_at = 1 WHERE name = $1 AND owner = $2`, leaseName, fmt.Sprintf("node_%d", i+1))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// checkRuns holds the runs of a report, each with one delivery, against its due
// times.
func checkRuns(t *testing.T, d *db.DB, report int64, want []time.Time) {
	t.Helper()
	var got []time.Time
	var deliveries int
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT r.due_at FROM notify_report_runs r JOIN notify_deliveries d ON d.id = r.delivery_id AND d.rule_id = $1
			WHERE r.report_id = $2 AND r.error = '' ORDER BY r.due_at`, notify.OfReport(report), report)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var due int64
			if err := rows.Scan(&due); err != nil {
				return err
			}
			got = append(got, db.Time(due))
		}
		rows.Close()
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM notify_deliveries WHERE rule_id = $1`, notify.OfReport(report)).Scan(&deliveries)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, want, time.Time.Equal) || deliveries != len(want) {
		t.Errorf("report %d: %d runs and %d deliveries for %d due times", report, len(got), deliveries, len(want))
	}
}
