// Package webhooks looks on the platforms which projects send their events
// here, and how their webhooks fare. Where a connection lets it, it creates
// those that are missing.
package webhooks

import (
	"context"
	"log/slog"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	cloud "outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/notify/bitbucketdc/client"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

const (
	// every is how often is looked for what is due.
	every = time.Minute
	// listEvery is how soon a new project is found.
	listEvery = time.Hour
	// checkEvery is how often a webhook that is well is looked at, troubledEvery
	// one that is missing, off or failing.
	checkEvery, troubledEvery = 24 * time.Hour, time.Hour
	// atOnce is how many projects of a connection are looked at in a round: three
	// requests each, so that 1,000 projects take an hour and the platform no
	// notice.
	atOnce = 20
	// failedFor is how long a platform that did not answer is left alone.
	failedFor = 10 * time.Minute
	// askTime is what a lease must last for longer than one project: a list, a
	// creation with two tries again, and the health.
	askTime = 15 * time.Second

	leaseName = "webhooks"
)

// Options are what a Watch needs.
type Options struct {
	Store    *store.Store
	Platform *client.Client
	Cloud    *cloud.Client
	// Use calls a cloud platform with the token of an account.
	Use     func(ctx context.Context, authorization int64, call func(c *notify.Connection, token secret.Value) error) error
	BaseURL string // where platforms reach this program
	Local   bool   // BaseURL is only what this machine calls it: no webhook is created for that
	Leases  *db.Leases
	Clock   func() time.Time
	Log     *slog.Logger
}

// Watch is the background work; one node of a cluster looks.
type Watch struct {
	Options
	work.PeriodicWorker // Stop cuts off a question under way
}

// New makes the background work; nothing is looked at before Start.
func New(o Options) *Watch { return &Watch{Options: o} }

// Start begins the rounds.
func (w *Watch) Start(ctx context.Context) {
	w.StartEvery(ctx, every, w.Log, "webhooks could not be looked at", w.runOnce)
}

// runOnce looks at what is due, and says at how many projects it looked. An
// error is about our own database.
func (w *Watch) runOnce(ctx context.Context) (looked int, err error) {
	var lease *db.Lease
	defer func() {
		if lease != nil {
			work.Release(ctx, w.Leases, lease, w.Log, "the lease for webhooks")
		}
	}()
	connections := w.Store.Platforms().Connections
	for i := range connections {
		c := &connections[i]
		if !c.Answers() {
			continue
		}
		if _, due, err := w.due(ctx, c); err != nil {
			return looked, err
		} else if !due {
			continue
		}
		if lease == nil {
			if lease, err = w.Leases.Acquire(ctx, leaseName); err != nil || lease == nil {
				return looked, err
			}
		}
		n, err := w.look(ctx, c, lease)
		if looked += n; err != nil {
			return looked, err
		}
	}
	n, err := w.repositories(ctx, &lease)
	return looked + n, err
}

// due reports whether the projects of a connection are to be listed, and whether
// anything is to be looked at.
func (w *Watch) due(ctx context.Context, c *notify.Connection) (list, look bool, err error) {
	check, err := w.Store.ProjectCheck(ctx, c.Name)
	passed := w.Clock().Sub(check.At)
	switch {
	case err != nil:
		return false, false, err
	case check.Reason != "":
		return passed >= failedFor, passed >= failedFor, nil
	case passed >= listEvery:
		return true, true, nil
	}
	due, err := w.dueProjects(ctx, c, 1)
	return false, len(due) > 0, err
}

func (w *Watch) dueProjects(ctx context.Context, c *notify.Connection, limit int) ([]notify.ProjectWebhook, error) {
	now := w.Clock()
	return w.Store.DueWebhooks(ctx, c.Name, now.Add(-checkEvery), now.Add(-troubledEvery), limit)
}

// look lists the projects of a connection, where that is due, and looks at the
// webhooks of some.
func (w *Watch) look(ctx context.Context, c *notify.Connection, lease *db.Lease) (looked int, err error) {
	list, some, err := w.due(ctx, c) // another node may have been at it
	if err != nil || !some {
		return 0, err
	}
	if list {
		if ok, err := w.list(ctx, c); !ok {
			return 0, err
		}
	}
	due, err := w.dueProjects(ctx, c, atOnce)
	if err != nil {
		return 0, err
	}
	for _, p := range due {
		if !lease.Good(askTime) {
			return looked, nil
		}
		again, err := w.Check(ctx, c, p)
		if err != nil {
			return looked, err
		}
		if looked++; !again {
			return looked, nil
		}
	}
	return looked, nil
}
