package processing

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
	"outrigger/internal/threads/upload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var schema = []db.Migrations{audit.Migrations, upload.Migrations, threads.Migrations}

// T is a test, or one run of a property.
type T interface {
	Helper()
	Context() context.Context
	Fatal(...any)
	Error(...any)
}

// rig is a store with a worker.
type rig struct {
	t     T
	db    *db.DB
	store *threads.Store
	p     *Processor
	moved chan struct{}
}

// newRig makes one that does nothing until start; target nil is the database.
func newRig(t T, d *db.DB, target threads.Target) *rig {
	t.Helper()
	name := threads.EmbeddedTarget
	if target != nil {
		name = "https://site.example"
	}
	r := &rig{t: t, db: d, store: threads.NewStore(d, name), moved: make(chan struct{}, 1)}
	if err := r.store.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.store.OnChange(func() {
		select {
		case r.moved <- struct{}{}:
		default:
		}
	})
	r.p = New(Options{
		Store: r.store, Target: target, Requests: 4, MaxUnpacked: 1 << 30, Clock: time.Now, Random: func() float64 { return 0 },
		Members: func(context.Context) (int, int, error) { return 1, 1, nil }, Log: slog.New(slog.DiscardHandler),
	})
	return r
}

// start has the worker work until the test ends.
func (r *rig) start(t *testing.T) *rig {
	t.Helper()
	leases := db.NewLeases(r.db, "node_1", nil)
	if err := leases.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.p.Leases = leases
	p := New(r.p.Options)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leases.Stop)
	t.Cleanup(p.Stop)
	return r
}

// send makes drafts of two files.
func (r *rig) send(hierarchy, mappings string) {
	r.t.Helper()
	for _, f := range []struct{ kind, content string }{{threads.HierarchyFile, hierarchy}, {threads.MappingsFile, mappings}} {
		u, err := r.store.Uploads.Create(r.t.Context(), upload.Upload{Kind: f.kind, Length: int64(len(f.content))})
		if err == nil {
			_, err = r.store.Uploads.Append(r.t.Context(), u.ID, 0, strings.NewReader(f.content))
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) operate(op threads.Operation) threads.Migration {
	r.t.Helper()
	m, err := r.store.Operate(r.t.Context(), threads.Actor{Name: "root"}, op, false)
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

// await waits until the migration is in a phase.
func (r *rig) await(phase threads.Phase) threads.Migration {
	r.t.Helper()
	for {
		m := r.migration()
		if m.Phase == phase {
			return m
		}
		select {
		case <-r.moved:
		case <-r.t.Context().Done():
			r.t.Fatal("the migration is ", m.Phase, ", not ", phase, ": ", m.Message)
		}
	}
}

// load sends two files and loads them.
func (r *rig) load(records []threads.Record, mappings []threads.IDMapping) {
	r.t.Helper()
	r.send(threadstest.Hierarchy(records), threadstest.CSV(mappings))
	r.operate(threads.OpUpload)
}

// check holds everything against the model: maps, errors, counts. refused are
// the cloud issues that the target refuses.
func (r *rig) check(records []threads.Record, mappings []threads.IDMapping, target func(int64) threads.ParentMap, refused map[int64]threads.Reason) {
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
		r.t.Fatal("the migration stands at ", cmp.Diff(threads.Migration{}, m, cmp.AllowUnexported(threads.Migration{}, threads.Pace{})), "; ", len(model.Records), " records, ", len(reasons), " errors")
	}
	for issue, want := range model.Maps {
		if got := target(issue); !slices.Equal(got, want) {
			r.t.Fatal("issue ", issue, ": ", cmp.Diff(want, got))
		}
	}
	got := map[threads.Record]threads.Reason{}
	for after := (threads.ErrorPlace{}); ; {
		list, err := r.store.Errors(r.t.Context(), after, 7)
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
			break
		}
	}
	if !maps.Equal(got, reasons) {
		r.t.Fatal("the errors: ", cmp.Diff(reasons, got))
	}
}

// embedded reads the target that is the database.
func (r *rig) embedded(issue int64) threads.ParentMap {
	m, err := r.store.Map(context.WithoutCancel(r.t.Context()), issue)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// memory is a target that does what it is told.
type memory struct {
	mu       sync.Mutex
	maps     map[int64]threads.ParentMap
	busy     map[int64]bool
	asked    int
	atOnce   int // at most
	now      int
	answer   func(n int, issue int64) error // of request n, counted from 1; nil lets it through
	overlaps int                            // requests about an issue that one was under way about
}

func newMemory(answer func(n int, issue int64) error) *memory {
	return &memory{maps: map[int64]threads.ParentMap{}, busy: map[int64]bool{}, answer: answer}
}

func (m *memory) begin(issue int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	m.now++
	m.atOnce = max(m.atOnce, m.now)
	if m.busy[issue] {
		m.overlaps++
	}
	m.busy[issue] = true
	if m.answer == nil {
		return nil
	}
	return m.answer(m.asked, issue)
}

func (m *memory) end(issue int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now--
	delete(m.busy, issue)
}

func (m *memory) Read(_ context.Context, issue int64) (threads.ParentMap, error) {
	defer m.end(issue)
	if err := m.begin(issue); err != nil {
		return nil, err
	}
	return m.get(issue), nil
}

func (m *memory) get(issue int64) threads.ParentMap {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.maps[issue]
}

func (m *memory) Write(ctx context.Context, issue int64, change func(threads.ParentMap) threads.ParentMap) (threads.ParentMap, error) {
	defer m.end(issue)
	if err := m.begin(issue); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.maps[issue] = change(m.maps[issue])
	return m.maps[issue], nil
}

func limited(wait time.Duration) error {
	return &threads.TargetError{Kind: threads.TargetLimits, Message: "too often", Wait: wait, Declared: wait > 0}
}
