package jiracloud_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/threads"
	"outrigger/internal/threads/jiracloud"
	"outrigger/internal/threads/processing"
	"outrigger/internal/threads/store"
	"outrigger/internal/threads/threadstest"
)

var schema = []db.Migrations{audit.Migrations, store.Migrations}

// T is a test, or one run of a property.
type T interface {
	Helper()
	Context() context.Context
	Fatal(...any)
	Fatalf(string, ...any)
}

// rig is a store and a site, on which workers can be let loose.
type rig struct {
	t       T
	db      *db.DB
	store   *store.Store
	site    *cloudsite.Site
	target  *jiracloud.Target
	moved   chan struct{}
	workers []*worker
}

// worker is a process: its leases and its Processor.
type worker struct {
	*processing.Processor
	leases *db.Leases
}

func newRig(t T, d *db.DB, site *cloudsite.Site, target *jiracloud.Target) *rig {
	t.Helper()
	r := &rig{t: t, db: d, store: store.New(d, "https://site.example"), site: site, target: target, moved: make(chan struct{}, 1)}
	if err := r.store.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.store.OnChange(func() {
		select {
		case r.moved <- struct{}{}:
		default:
		}
	})
	return r
}

// work begins a process, which takes everything over from those before it.
func (r *rig) work(requests int) *worker {
	r.t.Helper()
	w := &worker{leases: db.NewLeases(r.db, "node_1", nil)}
	w.leases.Time, w.leases.Every = 24*time.Hour, 24*time.Hour // only a successor ends them
	if err := w.leases.Start(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	w.Processor = processing.New(processing.Options{
		Store: r.store, Target: r.target, Requests: requests, MaxUnpacked: 1 << 30, Clock: time.Now, Random: func() float64 { return 0 },
		Members: func(context.Context) (int, int, error) { return 1, 1, nil }, Log: slog.New(slog.DiscardHandler), Leases: w.leases,
	})
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
func (w *worker) settled(t T) {
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
	r.workers = nil
}

// load sends two files and loads them.
func (r *rig) load(records []threads.Record, mappings []threads.IDMapping) {
	r.t.Helper()
	wish := threads.Wish{AcceptIncomplete: true} // drawn files may be empty
	for kind, content := range map[string]string{threads.HierarchyFile: threadstest.Hierarchy(records), threads.MappingsFile: threadstest.CSV(mappings)} {
		u, err := r.store.Uploads.Create(r.t.Context(), threads.Upload{Kind: kind, Length: int64(len(content))})
		if err == nil {
			_, err = r.store.Uploads.Append(r.t.Context(), u.ID, 0, strings.NewReader(content))
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	list, err := r.store.Uploads.List(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	wish.Drafts = threadstest.Sent(list)
	if _, err := r.store.Operate(r.t.Context(), threads.OpUpload, wish); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) operate(op threads.Operation) {
	r.t.Helper()
	if _, err := r.store.Operate(r.t.Context(), op, threads.Wish{}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) migration() threads.Migration {
	r.t.Helper()
	m, err := r.store.Migration(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// await waits until the migration is in a phase. It looks less and less often: where
// time is simulated, minutes pass at once, and each look is a query.
func (r *rig) await(phase threads.Phase) threads.Migration {
	r.t.Helper()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		m := r.migration()
		if m.Phase == phase {
			return m
		}
		select {
		case <-r.moved:
		case <-time.After(pause):
		case <-r.t.Context().Done():
			r.t.Fatal("the migration is ", m.Phase, ", not ", phase, ": ", m.Message)
		}
	}
}

// check holds everything against the model: the maps on the site, which come on
// top of those that were there before, the errors and the counts. refused are
// the issues that the site refuses.
func (r *rig) check(records []threads.Record, mappings []threads.IDMapping, before map[int64]threads.ParentMap, refused map[int64]threads.Reason) {
	r.t.Helper()
	model := threadstest.NewModel(records, mappings)
	reasons := model.Refuse(refused)
	m := r.migration()
	if m.Phase != threads.PhaseCompleted || m.RecordsDone != int64(len(model.Records)) || m.ChunksDone != m.Chunks || m.Permanent != int64(len(reasons)) {
		r.t.Fatalf("the migration stands at %+v; there are %d records and %d errors", m, len(model.Records), len(reasons))
	}
	want := maps.Clone(model.Maps)
	for issue, old := range before {
		want[issue] = old.Merge(want[issue])
	}
	for issue, parents := range want {
		read, err := r.target.Read(context.Background(), issue)
		if err != nil || !slices.Equal(read, parents) {
			r.t.Fatalf("issue %d has %d relations, not %d: %v", issue, len(read), len(parents), err)
		}
		if keys := r.site.Keys(issue); len(keys) != properties(parents) {
			r.t.Fatalf("issue %d with %d relations has the properties %v", issue, len(parents), keys)
		}
	}
	for _, issue := range r.site.Issues() {
		if _, ok := want[issue]; !ok {
			r.t.Fatalf("issue %d has %v", issue, r.site.Keys(issue))
		}
	}
	got := map[threads.Record]threads.Reason{}
	list, err := r.store.Errors(r.t.Context(), threads.ErrorPlace{}, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range list {
		got[e.Record] = e.Reason
	}
	if len(reasons) < 1000 && (len(got) != len(list) || !maps.Equal(got, reasons)) {
		r.t.Fatalf("the errors are %v, not %v", got, reasons)
	}
}

// properties is how many a map needs.
func properties(m threads.ParentMap) int {
	site := cloudsite.New(cloudsite.Options{})
	target, err := jiracloud.New(jiracloud.Options{URL: "https://x", Client: direct{site.Handler()}})
	if err == nil {
		_, err = target.Write(context.Background(), 1, become(m))
	}
	if err != nil {
		return -1
	}
	return len(site.Keys(1))
}
