package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/client"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/pages"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

// threadsSource is the self-hosted side of threaded comment migration.
type threadsSource struct {
	reports *source.Reports
	mirror  *source.Mirror // nil: the hierarchy comes from files
}

// openThreadsSource adds the routes and pages of the self-hosted side; nothing is
// mirrored or reported yet.
func (a *App) openThreadsSource(context.Context) error {
	cfg := &a.cfg.Threads
	store := store.NewSource(a.db)
	if cfg.Source == config.ThreadsSQL {
		database, err := source.OpenDatabase(cfg.SQL.URL, cfg.SQL.Query)
		if err != nil {
			return err
		}
		a.steps.add("the host's database", watchLimit, func(context.Context) error { return database.Close() })
		a.threadsSource.mirror = source.NewMirror(store, database, time.Duration(cfg.SQL.Interval), a.leases, a.log)
	}
	a.threadsSource.reports = source.NewReports(store, a.leases, a.remoteMappings(), a.log)
	imports := &source.Imports{Store: store, Mirrored: cfg.Source == config.ThreadsSQL, MaxUpload: int64(cfg.MaxUpload)}
	metrics := source.NewMetrics(a.registry)
	(&api.Source{Store: store, Imports: imports, Reports: a.threadsSource.reports, Mirror: a.threadsSource.mirror,
		Metrics: metrics}).Register(a.router)
	(&pages.Source{Store: store, Imports: imports, Mirror: a.threadsSource.mirror, Metrics: metrics}).Register(a.pages)
	return nil
}

// startThreadsSource begins to mirror and to make reports.
func (a *App) startThreadsSource(ctx context.Context) error {
	side := &a.threadsSource
	side.reports.Start(ctx)
	stop := side.reports.Stop
	if side.mirror != nil {
		side.mirror.Start(ctx)
		stop = func() { side.mirror.Stop(); side.reports.Stop() }
	}
	a.steps.addStop("mirror and reports of the self-hosted side", threadsLimit, stop)
	return nil
}

// remoteMappings is the host that has the id mappings report itself; nil where
// none is configured.
func (a *App) remoteMappings() source.Remote {
	cfg := &a.cfg.Threads.Mappings.Remote
	if cfg.URL == "" {
		return nil
	}
	signIn := func(r *http.Request) { r.SetBasicAuth(cfg.User, cfg.Password.Reveal()) }
	if !cfg.Token.IsZero() {
		signIn = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.Token.Reveal()) }
	}
	return &remoteReport{
		client: &client.Client{Base: cfg.URL, SignIn: signIn, HTTP: a.outgoing.Unlimited()}, dir: a.cfg.DataDir,
	}
}

// remoteReport reads the report of a host: it is downloaded first, which goes
// on after an interruption, and then read.
type remoteReport struct {
	client *client.Client
	dir    string // for the download
}

// remoteTime is how long a host may take to make its report; large ones take
// tens of minutes.
const remoteTime = 6 * time.Hour

func (r *remoteReport) IDMappings(ctx context.Context, cloudSite string, invalidate bool, take func(threads.IDMapping) error) error {
	ctx, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	dir, err := os.MkdirTemp(r.dir, "id-mappings-")
	if err != nil {
		return fmt.Errorf("make room for the report: %w", err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "id-mappings.csv")
	if _, err := r.client.IDMappings(ctx, cloudSite, invalidate, name, nil); err != nil {
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	defer file.Close()
	d := format.NewMappingDecoder(file)
	for {
		m, err := d.Next()
		if errors.Is(err, io.EOF) {
			reading := d.Reading()
			if damage := reading.Damage(); reading.Rows > 0 && len(damage) > 0 {
				return fault.New(fault.Invalid, "The host's report is not complete. %s", strings.Join(damage, " "))
			}
			return nil
		}
		if err == nil {
			err = take(m)
		}
		if err != nil {
			return err
		}
	}
}
