package app

import (
	"context"
	"fmt"
	"math/rand/v2"

	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
	"outrigger/internal/threads/processing"
)

// threadsCloud is the cloud side of threaded comment migration.
type threadsCloud struct {
	api    *admin.API
	worker *processing.Processor
}

// unpacked is how much larger than threads.max_upload a packed file may become.
const unpacked = 4

// openThreadsCloud gives the cloud side its routes and pages; nothing is
// processed yet.
func (a *App) openThreadsCloud(ctx context.Context) error {
	store := threads.NewStore(a.db, threads.EmbeddedTarget)
	if err := store.Open(ctx); err != nil {
		return err
	}
	tool := &admin.Tool{Store: store, Dir: a.cfg.DataDir, MaxUpload: int64(a.cfg.Threads.MaxUpload), Clock: a.clock}
	a.threadsCloud.api = admin.NewAPI(tool)
	a.threadsCloud.api.Register(a.router)
	(&admin.Pages{Tool: tool}).Register(a.pages)
	a.threadsCloud.worker = processing.New(processing.Options{
		Store: store, Leases: a.leases, Members: a.cluster.Members, MaxUnpacked: unpacked * tool.MaxUpload,
		Clock: a.clock, Random: rand.Float64, Log: a.log, Metrics: a.registry,
	})
	a.share(a.threadsCloud.worker)
	return nil
}

// startThreadsCloud begins to process.
func (a *App) startThreadsCloud(ctx context.Context) error {
	if err := a.threadsCloud.worker.Start(ctx); err != nil {
		return fmt.Errorf("start to process migrations: %w", err)
	}
	a.steps.addStop("the migration's worker", threadsLimit, a.threadsCloud.worker.Stop)
	a.steps.addStop("files and events of the migration", pagesLimit, a.threadsCloud.api.Stop)
	return nil
}
