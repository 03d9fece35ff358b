package processing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/store"
	"outrigger/internal/threads/threadstest"
)

func TestMain(m *testing.M) {
	dbtest.Checks(15)
	goleak.VerifyTestMain(m)
}

var schema = []db.Migrations{audit.Migrations, store.Migrations}

// T is a test, or one run of a property.
type T interface {
	Helper()
	Context() context.Context
	Fatal(...any)
	Error(...any)
}

// atOnce is how many requests a rig's target gets at once.
const atOnce = 4

// rig is a store and a target, on which workers can be let loose.
type rig struct {
	t        T
	db       *db.DB
	store    *store.Store
	target   *memory // nil for the database itself
	options  Options
	patience time.Duration // for what is awaited
	moved    chan struct{}
	workers  []*worker
}

// worker is a process: its leases and its Processor.
type worker struct {
	*Processor
	leases *db.Leases
}

var rigs atomic.Int64

// newRig makes one that does nothing until work.
func newRig(t T, d *db.DB, target *memory) *rig {
	t.Helper()
	// A target of its own, so that another rig's maps are not in it.
	r := &rig{t: t, db: d, store: store.New(d, fmt.Sprint("target ", rigs.Add(1))), target: target, patience: time.Minute, moved: make(chan struct{}, 1)}
	if err := r.store.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.store.OnChange(func() {
		select {
		case r.moved <- struct{}{}:
		default:
		}
	})
	r.options = Options{
		Store: r.store, Requests: atOnce, MaxUnpacked: 1 << 30, Clock: time.Now, Random: func() float64 { return 0 },
		Members: func(context.Context) (int, int, error) { return 1, 1, nil }, Log: slog.New(slog.DiscardHandler),
	}
	if target != nil {
		r.options.Target = target
	}
	return r
}

// work has another worker begin. It is a new process of the same node: what
// those before it hold is its own now, also if they do not know yet.
func (r *rig) work() *worker {
	r.t.Helper()
	w := &worker{leases: db.NewLeases(r.db, "node_1", nil)}
	w.leases.Time, w.leases.Every = 24*time.Hour, 24*time.Hour // only a successor ends them
	// The database may be away for a moment.
	for until := time.Now().Add(r.patience); ; <-time.After(time.Millisecond) {
		err := w.leases.Start(context.Background())
		if err == nil {
			break
		}
		if time.Now().After(until) {
			r.t.Fatal(err)
		}
	}
	o := r.options
	o.Leases = w.leases
	w.Processor = New(o)
	if err := w.Start(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	r.workers = append(r.workers, w)
	return w
}

// settled waits until the worker has its leases. Here a process is killed by
// stopping it beside its successor, and one that still asks for leases takes them
// from the successor, which has the same node id and is not told: then neither
// works. A process that is really killed takes nothing any more.
func (w *worker) settled(t T, patience time.Duration) {
	t.Helper()
	for until := time.Now().Add(patience); w.Held() < 2; <-time.After(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the worker got no leases")
		}
	}
}

// end ends all workers.
func (r *rig) end() {
	for _, w := range r.workers {
		w.Stop()
	}
	for _, w := range r.workers {
		w.leases.Stop()
	}
}

// send makes drafts of two files.
func (r *rig) send(hierarchy, mappings string) {
	r.t.Helper()
	for _, f := range []struct{ kind, content string }{{threads.HierarchyFile, hierarchy}, {threads.MappingsFile, mappings}} {
		r.sendFile(f.kind, f.content)
	}
}

// sendFile makes a draft of a file.
func (r *rig) sendFile(kind, content string) int64 {
	r.t.Helper()
	u, err := r.store.Uploads.Replace(r.t.Context(), threads.Upload{Kind: kind, Length: int64(len(content))})
	if err == nil {
		_, err = r.store.Uploads.Append(r.t.Context(), u.ID, 0, strings.NewReader(content))
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return u.ID
}

// wish names the files that an upload is to load, which nothing has read yet.
func (r *rig) wish(op threads.Operation) (w threads.Wish) {
	r.t.Helper()
	if op == threads.OpUpload {
		list, err := r.store.Uploads.List(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		w.Drafts = threadstest.Sent(list)
	}
	return w
}

func (r *rig) operate(op threads.Operation) threads.Migration {
	r.t.Helper()
	m, err := r.store.Operate(r.t.Context(), op, r.wish(op))
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func (r *rig) migration() threads.Migration {
	r.t.Helper()
	m, err := r.store.Migration(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// await waits until the migration is in one of some phases.
func (r *rig) await(phases ...threads.Phase) threads.Migration {
	r.t.Helper()
	for until := time.Now().Add(r.patience); ; {
		m := r.migration()
		if slices.Contains(phases, m.Phase) {
			return m
		}
		if time.Now().After(until) {
			r.t.Fatal("the migration is ", m.Phase, ", not ", phases, ": ", m.Message)
		}
		select {
		case <-r.moved:
		case <-time.After(r.patience / 1000):
		}
	}
}

// do goes through the whole of a migration.
func (r *rig) do(records []threads.Record, mappings []threads.IDMapping) threads.Migration {
	r.t.Helper()
	r.load(records, mappings)
	r.await(threads.PhaseReady)
	r.operate(threads.OpStart)
	return r.await(threads.PhaseCompleted)
}

// load sends two files and loads them.
func (r *rig) load(records []threads.Record, mappings []threads.IDMapping) {
	r.t.Helper()
	r.send(threadstest.Hierarchy(records), threadstest.CSV(mappings))
	wish := r.wish(threads.OpUpload)
	wish.AcceptIncomplete = true
	if _, err := r.store.Operate(r.t.Context(), threads.OpUpload, wish); err != nil { // drawn files may be empty
		r.t.Fatal(err)
	}
}

// check holds everything against the model: maps, errors, counts. refused are
// the cloud issues that the target refuses.
func (r *rig) check(records []threads.Record, mappings []threads.IDMapping, refused map[int64]threads.Reason) {
	r.t.Helper()
	model := threadstest.NewModel(records, mappings)
	reasons := model.Refuse(refused)
	issues := map[int64]bool{}
	for _, record := range model.Records {
		issues[record.IssueID] = true
	}
	m := r.migration()
	if m.Phase != threads.PhaseCompleted || m.RecordsDone != int64(len(model.Records)) || m.Records != m.RecordsDone || m.ChunksDone != m.Chunks ||
		m.Issues != int64(len(issues)) || m.Permanent != int64(len(reasons)) || m.Percent() != 100 {
		r.t.Fatal("the migration stands at ", fmt.Sprintf("%+v", m), "; ", len(model.Records), " records, ", len(issues), " issues, ", len(reasons), " errors")
	}
	r.holds(model.Maps)
	if got := r.errors(); !maps.Equal(got, reasons) {
		r.t.Fatal("the errors: ", cmp.Diff(reasons, got))
	}
}

// holds compares the target, and what the database knows of it, with maps.
func (r *rig) holds(want map[int64]threads.ParentMap) {
	r.t.Helper()
	if got := r.stored(); !maps.EqualFunc(got, want, slices.Equal) {
		r.t.Fatal("the database: ", cmp.Diff(want, got))
	}
	if r.target == nil {
		return
	}
	if got := r.target.all(); !maps.EqualFunc(got, want, slices.Equal) {
		r.t.Fatal("the target: ", cmp.Diff(want, got))
	}
}

// stored returns the maps of the database, by way of a backup.
func (r *rig) stored() map[int64]threads.ParentMap {
	r.t.Helper()
	list := map[int64]threads.ParentMap{}
	in, err := format.NewBackupReader(strings.NewReader(r.backup()))
	for err == nil {
		var m threads.IssueMap
		if m, err = in.Next(); err == nil {
			list[m.CloudIssueID] = m.Parents
		}
	}
	if !errors.Is(err, io.EOF) {
		r.t.Fatal(err)
	}
	return list
}

// errors returns all permanent errors, some at a time.
func (r *rig) errors() map[threads.Record]threads.Reason {
	r.t.Helper()
	got := map[threads.Record]threads.Reason{}
	for after := (threads.ErrorPlace{}); ; {
		list, err := r.store.Errors(context.Background(), after, 7)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, e := range list {
			if got[e.Record] != "" {
				r.t.Fatal("an error is listed twice: ", e)
			}
			got[e.Record] = e.Reason
			after = e.At
		}
		if len(list) < 7 {
			return got
		}
	}
}

// sortedIssues returns the cloud issues of data in the order in which they are
// processed.
func sortedIssues(records []threads.Record, mappings []threads.IDMapping) []int64 {
	return slices.Sorted(maps.Keys(threadstest.NewModel(records, mappings).Maps))
}
