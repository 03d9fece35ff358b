package app

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
)

// stateTime bounds what one scrape asks of the database about the state.
const stateTime = 5 * time.Second

// What a scrape asks of several parts together.
var (
	readyDesc = prometheus.NewDesc("outrigger_ready",
		"1 while /readyz is 200, else 0.", nil, nil)
	notReadyDesc = prometheus.NewDesc("outrigger_not_ready_info",
		"Why /readyz is 503; only then.", []string{"reason"}, nil)
	freeDesc = prometheus.NewDesc("outrigger_data_folder_free_bytes",
		"Free space of the file system that has the data folder.", nil, nil)
	totalDesc = prometheus.NewDesc("outrigger_data_folder_filesystem_size_bytes",
		"Size of the file system that has the data folder.", nil, nil)
	databaseDesc = prometheus.NewDesc("outrigger_db_size_bytes",
		"Size of the database on disk, without its write-ahead log.", nil, nil)
	logDesc = prometheus.NewDesc("outrigger_db_log_size_bytes",
		"Size of SQLite's write-ahead log; 0 with PostgreSQL.", nil, nil)
	nodesDesc = prometheus.NewDesc("outrigger_cluster_nodes",
		"Nodes of the cluster, by state; the same on every node.", []string{"state"}, nil)
	pausedDesc = prometheus.NewDesc("outrigger_mail_paused",
		"1 while an administrator has paused the mail of a node, else 0; the same on every node.", []string{"node"}, nil)
	smarthostDesc = prometheus.NewDesc("outrigger_mail_smarthost_paused",
		"1 while a node sends no mail because of what the smarthost answered or did not, with the reason, else 0; the same on every node.",
		[]string{"node", "reason"}, nil)
	offlineDesc = prometheus.NewDesc("outrigger_mail_queue_offline_messages",
		"Messages that wait in the queues of nodes that are OFFLINE; the same on every node.", []string{"node"}, nil)
	retentionDesc = prometheus.NewDesc("outrigger_retention_last_round_timestamp_seconds",
		"When this node last deleted what was past its time; not there until it has. In a cluster one node does, so take the max.", nil, nil)
	backupDesc = prometheus.NewDesc("outrigger_backup_last_timestamp_seconds",
		"When the last backup was made by Outrigger; 0 while there was none, and not there with PostgreSQL, which has its own tools.", nil, nil)
	restoreDesc = prometheus.NewDesc("outrigger_restore_waiting",
		"1 while nothing is sent until an administrator confirms a restore, else 0.", nil, nil)
	certificateDesc = prometheus.NewDesc("outrigger_tls_certificate_expiry_timestamp_seconds",
		"When a certificate that this server presents ends, by its file.", []string{"file"}, nil)
	expiryDesc = prometheus.NewDesc("outrigger_credential_expiry_timestamp_seconds",
		"When a credential of the settings ends, by its setting, where the day is known.", []string{"credential"}, nil)
	attentionDesc = prometheus.NewDesc("outrigger_attention",
		"Things that need attention on the overview, by kind; a kind without any is not there.", []string{"kind"}, nil)
)

// buildInfo names the program.
func (a *App) buildInfo() prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "outrigger_build_info", Help: "1, with the version of the program and what it was built from and with.",
		ConstLabels: prometheus.Labels{"version": a.o.Version, "commit": a.o.Commit, "goversion": runtime.Version()},
	})
	g.Set(1)
	return g
}

// stateFigures are asked for by each scrape. What cannot be told is left out.
type stateFigures struct{ app *App }

// Describe is of prometheus.Collector.
func (f *stateFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		readyDesc, notReadyDesc, freeDesc, totalDesc, databaseDesc, logDesc, nodesDesc, pausedDesc, smarthostDesc,
		offlineDesc, retentionDesc, backupDesc, restoreDesc, certificateDesc, expiryDesc, attentionDesc,
	} {
		to <- d
	}
}

// gauges is where figures go.
type gauges chan<- prometheus.Metric

func (to gauges) set(d *prometheus.Desc, v float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (to gauges) is(d *prometheus.Desc, v bool, labels ...string) {
	n := 0.0
	if v {
		n = 1
	}
	to.set(d, n, labels...)
}

// at sets a time, but not the zero time.
func (to gauges) at(d *prometheus.Desc, t time.Time, labels ...string) {
	if !t.IsZero() {
		to.set(d, float64(t.Unix()), labels...)
	}
}

// Collect is of prometheus.Collector.
func (f *stateFigures) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), stateTime)
	defer cancel()
	a, to := f.app, gauges(metrics)
	why := a.startupGate.notReady(ctx)
	to.is(readyDesc, why == "")
	if why != "" {
		to.set(notReadyDesc, 1, why)
	}
	if space, err := db.SpaceOf(a.cfg.DataDir); err == nil {
		to.set(freeDesc, float64(space.Free))
		to.set(totalDesc, float64(space.Total))
	}
	if database, log, err := a.db.Size(ctx); err == nil {
		to.set(databaseDesc, float64(database))
		to.set(logDesc, float64(log))
	}
	f.nodes(ctx, to)
	if r := a.retention.Load(); r != nil {
		to.at(retentionDesc, r.LastRound())
	}
	if made, err := a.backup.LastMade(ctx); err == nil && a.db.Dialect() == db.SQLite {
		to.set(backupDesc, float64(max(made.Unix(), 0)))
	}
	if held, err := a.backup.Held(ctx); err == nil {
		to.is(restoreDesc, held)
	}
	ends := map[string]time.Time{} // of mail and of HTTP it may be the same file
	for _, c := range a.certificates {
		ends[c.files.Cert] = c.ends()
	}
	for file, end := range ends {
		to.at(certificateDesc, end, file)
	}
	for _, e := range a.Config().Expiries() {
		to.at(expiryDesc, e.At, e.Key)
	}
	kinds := map[string]int{}
	found, _ := a.attention(ctx) // of the parts that could be asked
	for _, n := range found {
		kinds[n.Kind]++
	}
	for kind, n := range kinds {
		to.set(attentionDesc, float64(n), kind)
	}
}

// nodes tells of the nodes, and of the mail of each.
func (f *stateFigures) nodes(ctx context.Context, to gauges) {
	nodes, err := f.app.cluster.Nodes(ctx)
	if err != nil {
		return
	}
	states := map[cluster.State]int{}
	for _, n := range nodes {
		states[n.State]++
	}
	for _, s := range []cluster.State{cluster.Activating, cluster.Active, cluster.Passivating, cluster.Passive, cluster.Offline} {
		to.set(nodesDesc, float64(states[s]), string(s))
	}
	queues, err := f.app.mail.queue.Queues(ctx)
	if err != nil {
		return
	}
	byNode := map[string]mailqueue.RelayQueue{}
	for _, q := range queues {
		byNode[q.NodeID] = q
		to.is(pausedDesc, q.Paused, q.NodeID)
		to.is(smarthostDesc, q.HeldFor != "", q.NodeID, q.HeldFor)
	}
	for _, n := range nodes {
		if n.State == cluster.Offline {
			to.set(offlineDesc, float64(byNode[n.ID].Size), n.ID)
		}
	}
}
