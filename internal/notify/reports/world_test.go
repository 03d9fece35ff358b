package reports

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

var schema = []db.Migrations{secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations}

// monday is a day on which nothing happens to clocks.
var monday = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)

var ada = notify.Actor{Name: "ada", Source: identity.Local, UserID: 7}

// clock is what every node shares.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// platform lists pull requests as its test says.
type platform struct {
	mu    sync.Mutex
	asked int
	list  func(ctx context.Context, at notify.RepositoryRef) ([]notify.OpenPullRequest, error)
}

func (p *platform) OpenPullRequests(ctx context.Context, _ *notify.Connection, at notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
	p.mu.Lock()
	p.asked++
	list := p.list
	p.mu.Unlock()
	if list == nil {
		return nil, nil
	}
	return list(ctx, at)
}

// node is one process of the cluster.
type node struct {
	*platform
	store  *store.Store
	runner *Runner
	leases *db.Leases
	active int
}

func newNode(t *testing.T, d *db.DB, id string, now *clock) *node {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	n := &node{platform: &platform{}, store: store.New(d, secrettest.Box(t, d), log), leases: db.NewLeases(d, id, log), active: 1}
	n.store.UsePlatforms(notify.Connections{{Name: "dc", Kind: "bitbucket-dc"}}, nil)
	if err := n.store.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.leases.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.leases.Stop)
	words := &admin.Reports{
		Store: n.store, Lister: n.platform, Clock: now.Now,
		PullRequests: func(_ *notify.Connection, at notify.RepositoryRef) string {
			return "https://git.example.com/" + at.RepositoryKey
		},
	}
	n.runner = New(Options{
		Store: n.store, Compose: words.Compose, Leases: n.leases, Clock: now.Now, Log: log,
		Members: func(context.Context) (int, int, error) { return n.active, 1, nil },
	})
	return n
}

// run looks once for what is due, and wants so many turns.
func (n *node) run(t *testing.T, want int) {
	t.Helper()
	if turned, err := n.runner.runOnce(t.Context()); err != nil || turned != want {
		t.Errorf("%d reports had their turn, want %d, %v", turned, want, err)
	}
}

func (n *node) waiting(t *testing.T) []*notify.Delivery {
	t.Helper()
	list, err := n.store.ListDeliveries(t.Context(), notify.DeliveryFilter{State: notify.Waiting, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// saveReport saves a daily report of nine o'clock, on the midnight before.
func (n *node) saveReport(t *testing.T, name string) notify.ReportInfo {
	t.Helper()
	info, err := n.store.SaveReport(t.Context(), ada, notify.Report{
		Name: name, Connection: "dc", ProjectKey: "ATL", RepositoryKey: name, Format: notify.Auto, Enabled: true,
		ReportContent:  notify.ReportContent{InactivityDays: 7},
		ReportSchedule: notify.ReportSchedule{Frequency: notify.Daily, Time: "09:00", TimeZone: "UTC"},
	}, "https://hooks.slack.com/services/T0/B0/"+name, monday)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func eachNode(t *testing.T, fn func(t *testing.T, n *node, now *clock)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := &clock{now: monday}
		fn(t, newNode(t, d, "node_1", now), now)
	}, schema...)
}
