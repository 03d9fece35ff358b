package app

import (
	"context"
	"strconv"
	"sync"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/cluster"
	"outrigger/internal/console"
	"outrigger/internal/fault"
	mailstore "outrigger/internal/mailqueue/store"
	"outrigger/internal/notify/membership"
	notifystore "outrigger/internal/notify/store"
	"outrigger/internal/retention"
)

// joinCluster makes this node known to the others, not ready yet.
func (a *App) joinCluster(ctx context.Context) error {
	a.cluster = cluster.New(a.db, cluster.Options{
		NodeID: a.nodeID, Address: a.URL(), Version: a.o.Version, Clustered: a.cfg.Cluster.Enabled, InFlight: a.sharers.held,
		Dir: a.cfg.DataDir, Place: a.begunPlace(), Beaten: a.backup.Beaten, Log: a.log,
	})
	a.cluster.OnChange(func(cluster.Node) { a.sharers.wake() })
	if err := a.cluster.Start(ctx); err != nil {
		return err
	}
	a.steps.add("cluster", clusterLimit, func(ctx context.Context) error {
		close(a.held.over)
		return a.cluster.Stop(ctx)
	})
	a.checks = append(a.checks, a.active)
	return a.sayBegun(ctx)
}

// sharer is what divides its work among the nodes.
type sharer interface {
	Held() int // pieces that this node works on
	Wake()     // the nodes changed
}

// sharers are the parts that do.
type sharers struct {
	mu   sync.Mutex
	list []sharer
}

// share has a part told of changes among the nodes; a node is not PASSIVE
// before it holds nothing.
func (a *App) share(s sharer) {
	a.sharers.mu.Lock()
	defer a.sharers.mu.Unlock()
	a.sharers.list = append(a.sharers.list, s)
}

func (s *sharers) held() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.list {
		n += one.Held()
	}
	return n
}

func (s *sharers) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.list {
		one.Wake()
	}
}

// active is nil while this node takes its share of the work, and the database
// its writes.
func (a *App) active(context.Context) error {
	if err := a.cluster.Ready(); err != nil {
		return err
	}
	if state := a.cluster.Self().State; state != cluster.Active {
		return fault.New(fault.Unavailable, "The node %s is %s.", a.nodeID, state)
	}
	return nil
}

// startRetention begins to delete what is past its time.
func (a *App) startRetention(ctx context.Context) error {
	keep := a.cfg.Retention
	r := retention.New(a.db, []retention.Rule{
		{Name: "deliveries", Keep: time.Duration(keep.Deliveries), Delete: notifystore.DeleteDeliveries},
		{Name: "report runs", Keep: time.Duration(keep.Deliveries), Delete: notifystore.DeleteReportRuns},
		{Name: "group members", Keep: membership.Keep, Delete: notifystore.DeleteMemberships},
		{Name: "named commits", Keep: time.Duration(keep.Events), Delete: notifystore.DeleteCommits},
		{Name: "builds", Keep: time.Duration(keep.Events), Delete: notifystore.DeleteBuilds},
		{Name: "pull requests", Keep: time.Duration(keep.Events), Delete: notifystore.DeletePullRequests},
		{Name: "events", Keep: time.Duration(keep.Events), Delete: notifystore.DeleteEvents},
		{Name: "rule versions", Keep: time.Duration(keep.Events), Delete: notifystore.DeleteRuleVersions},
		{Name: "failed mail", Keep: time.Duration(keep.MailErrors), Delete: mailstore.DeleteErrors(a.mail.queue)},
		{Name: "samples", Keep: time.Duration(keep.Samples), Delete: mailstore.DeleteSamples},
		{Name: "samples of notifications", Keep: time.Duration(keep.Samples), Delete: notifystore.DeleteSamples},
		{Name: "nodes", Keep: offlineKept, Delete: mailstore.DeleteNodes},
		{Name: "audit", Keep: time.Duration(keep.Audit), Delete: audit.Delete},
	}, a.log, a.leases)
	a.retention.Store(r)
	r.Start(ctx)
	a.steps.addStop("retention", retentionLimit, r.Stop)
	return nil
}

// offlineKept is how long a node that is OFFLINE and has no messages stays
// listed.
const offlineKept = 7 * 24 * time.Hour

// gapsShown is how far back the overview tells of times in which nothing
// listened: as long as events are kept by default.
const gapsShown = 7 * 24 * time.Hour

// overviewNodes is the card about the nodes on the console's overview. What a
// platform sent while nothing listened is lost, which no figure of ours shows.
func (a *App) overviewNodes(ctx context.Context) (card console.Card, err error) {
	nodes, err := a.cluster.Nodes(ctx)
	if err != nil {
		return card, err
	}
	gaps, err := a.cluster.Gaps(ctx, a.clock().Add(-gapsShown))
	if err != nil {
		return card, err
	}
	counts := map[cluster.State]int{}
	for _, n := range nodes {
		counts[n.State]++
	}
	card = console.Card{Title: "Nodes", Link: "/system/nodes"}
	if len(nodes) > 1 {
		card.Figures = []console.Figure{{Label: "active", Value: strconv.Itoa(counts[cluster.Active])}}
	}
	if offline := counts[cluster.Offline]; offline > 0 {
		card.Figures = append(card.Figures, console.Figure{Label: "offline", Value: strconv.Itoa(offline), Tone: console.Warn})
	}
	if err := a.cluster.Ready(); err != nil {
		card.Attention = append(card.Attention, console.Notice{
			Kind: "not_ready", Key: "not ready " + a.nodeID, Text: "The node " + a.nodeID + " accepts nothing. " + fault.As(err).Message,
			Tone: console.Bad, Since: a.cluster.WrittenAt(),
		})
	}
	for _, g := range gaps {
		card.Attention = append(card.Attention, console.Notice{
			Kind: "gap", Key: "gap " + moment(g.From), Text: "Nothing listened: the platform does not send again what it sent then.",
			Since: g.From, Until: g.To,
		})
	}
	return card, nil
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
