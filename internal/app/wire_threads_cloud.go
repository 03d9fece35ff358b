package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/jiracloud"
	"outrigger/internal/threads/pages"
	"outrigger/internal/threads/processing"
	"outrigger/internal/threads/store"
)

// threadsCloud is the cloud side of threaded comment migration.
type threadsCloud struct {
	api    *api.Admin
	worker *processing.Processor
}

// unpacked is how much larger than threads.max_upload a packed file may become.
const unpacked = 4

// openThreadsCloud adds the routes and pages of the cloud side; nothing is
// processed yet.
func (a *App) openThreadsCloud(ctx context.Context) error {
	name, target, err := a.threadsTarget()
	if err != nil {
		return err
	}
	migrations := store.New(a.db, name)
	if err := migrations.Open(ctx); err != nil {
		return err
	}
	tool := &admin.Tool{Store: migrations, Target: target, Dir: a.cfg.DataDir, MaxUpload: int64(a.cfg.Threads.MaxUpload), Clock: a.clock}
	a.threadsCloud.api = api.NewAdmin(tool)
	a.threadsCloud.api.Register(a.router)
	(&pages.Admin{Tool: tool}).Register(a.pages)
	a.threadsCloud.worker = processing.New(processing.Options{
		Store: migrations, Leases: a.leases, Members: a.cluster.Members,
		Target: target, Requests: a.cfg.Threads.JiraCloud.Requests, Linger: time.Duration(a.cfg.Threads.JiraCloud.Timeout),
		MaxUnpacked: unpacked * tool.MaxUpload,
		Clock:       a.clock, Random: rand.Float64, Log: a.log, Metrics: a.registry,
	})
	a.share(a.threadsCloud.worker)
	return nil
}

// threadsTarget is where parent maps go, with its name; nil for this database.
func (a *App) threadsTarget() (string, threads.Target, error) {
	if a.cfg.Threads.Target != config.TargetJiraCloud {
		return threads.EmbeddedTarget, nil, nil
	}
	cfg := &a.cfg.Threads.JiraCloud
	target, err := jiracloud.New(jiracloud.Options{
		URL: cfg.URL, User: cfg.User, Token: cfg.Token, Client: a.outgoing.Unlimited(), Requests: cfg.Requests,
		Timeout: time.Duration(cfg.Timeout), Clock: a.clock, Log: a.log, Metrics: a.registry,
	})
	if err != nil {
		return "", nil, fmt.Errorf("threads.jira_cloud: %w", err)
	}
	return strings.TrimRight(cfg.URL, "/"), target, nil
}

// startThreadsCloud begins to process.
func (a *App) startThreadsCloud(ctx context.Context) error {
	a.steps.addStop("files and events of the migration", pagesLimit, a.threadsCloud.api.Stop)
	return a.whenSending(ctx, func(ctx context.Context) error {
		if err := a.threadsCloud.worker.Start(ctx); err != nil {
			return fmt.Errorf("start to process migrations: %w", err)
		}
		a.steps.addStop("the migration's worker", threadsLimit, a.threadsCloud.worker.Stop)
		return nil
	})
}
