package processing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
	"outrigger/internal/threads/threadstest"
)

// writes is a target that notes every map that an issue had.
type writes struct {
	*memory
	mu   sync.Mutex
	seen map[int64][]threads.ParentMap
	hook func(n int)
}

func (w *writes) Write(ctx context.Context, issue int64, change threads.Change) (threads.ParentMap, error) {
	m, err := w.memory.Write(ctx, issue, change)
	w.mu.Lock()
	n := 0
	if err == nil {
		w.seen[issue] = append(w.seen[issue], m)
		n = len(w.seen)
	}
	w.mu.Unlock()
	if w.hook != nil {
		w.hook(n)
	}
	return m, err
}

// Two nodes on one database: the one that processes is gone from one moment to
// the other, the other finishes, and no issue is written differently.
func TestOtherNodeFinishes(t *testing.T) {
	t.Parallel()
	url := dbtest.PostgresURL(t)
	proxy, through := dbtest.NewProxy(t, url)
	one, two := dbtest.Open(t, db.Options{URL: through, NodeID: "node_1"}), dbtest.Open(t, db.Options{URL: url, NodeID: "node_2"})
	if err := two.Migrate(t.Context(), schema...); err != nil {
		t.Fatal(err)
	}
	records, mappings := threadstest.Many(3000, 3)
	for _, embedded := range []bool{true, false} {
		t.Run(fmt.Sprint("embedded ", embedded), func(t *testing.T) {
			target := &writes{memory: newMemory(func(int, int64) error { <-time.After(100 * time.Microsecond); return nil }), seen: map[int64][]threads.ParentMap{}}
			node := func(d *db.DB, id string, first *rig) (*rig, *worker) {
				r := newRig(t, d, target.memory)
				r.options.ChunkSize = 100
				r.options.Target = target
				if embedded {
					r.target, r.options.Target = nil, nil
				}
				if first != nil {
					r.store = store.New(d, first.store.Target())
					if err := r.store.Open(t.Context()); err != nil {
						t.Fatal(err)
					}
					r.options.Store = r.store
				}
				r.options.Members = func(context.Context) (int, int, error) { return 1, 2, nil }
				w := &worker{leases: db.NewLeases(d, id, nil)}
				w.leases.Time, w.leases.Every = time.Second, 250*time.Millisecond // a twentieth of what they are
				if err := w.leases.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				o := r.options
				o.Leases = w.leases
				w.Processor = New(o)
				if err := w.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				r.workers = append(r.workers, w)
				return r, w
			}
			gone := make(chan struct{})
			away := sync.OnceFunc(func() { proxy.Away(); close(gone) })
			target.hook = func(n int) {
				if n > 300 {
					away()
				}
			}
			a, _ := node(one, "node_1", nil)
			defer a.end()
			a.load(records, mappings)
			a.await(threads.PhaseReady)
			b, _ := node(two, "node_2", a)
			defer b.end()
			defer proxy.Back() // so that the first can end
			b.operate(threads.OpStart)
			if embedded {
				for b.migration().ChunksDone < 5 {
					<-time.After(time.Millisecond)
				}
				away()
			}
			<-gone
			b.await(threads.PhaseCompleted)
			b.target = nil
			if !embedded {
				b.target = target.memory
			}
			b.check(records, mappings, nil)
			twice := 0
			for issue, list := range target.seen {
				twice += len(list) - 1
				for _, m := range list {
					if !slices.Equal(m, list[0]) {
						t.Errorf("issue %d is written as %v and as %v", issue, list[0], m)
					}
				}
			}
			if !embedded {
				t.Logf("%d of %d issues were written again", twice, len(target.seen))
				if twice > window+4 {
					t.Errorf("%d issues were written again, more than a window", twice)
				}
			}
			b.operate(threads.OpReset)
		})
	}
}

// A worker that makes no progress for five minutes is replaced, and what it
// still does changes nothing; one that waits because it was told to is not.
func TestStall(t *testing.T) {
	quick(t, func(t *testing.T, d *db.DB) {
		release := make(chan struct{})
		target := newMemory(nil)
		target.answer = func(n int, _ int64) error {
			if n == 5 {
				<-release // not even the end of its context ends it
			}
			return nil
		}
		r := newRig(t, d, target)
		r.patience = 100 * time.Hour
		defer r.end()
		defer close(release)
		r.work()
		records, mappings := threadstest.Many(30, 3)
		r.load(records, mappings)
		r.await(threads.PhaseReady)
		began := time.Now()
		r.operate(threads.OpStart)
		r.await(threads.PhaseCompleted)
		if took := time.Since(began); took < 5*time.Minute || took > 6*time.Minute {
			t.Errorf("another worker takes over after %s", took)
		}
		r.check(records, mappings, nil)
	})
}

// Stop takes effect at once, also in a wait and on another node, and what was
// written is known though the migration does not go on.
func TestStopAtOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []error
		slow    bool
	}{{"while requests are under way", nil, true}, {"in a wait", slices.Repeat([]error{limited(time.Hour)}, 4), false}} {
		t.Run(c.name, func(t *testing.T) {
			quick(t, func(t *testing.T, d *db.DB) {
				target := newScripted(c.answers...)
				if c.slow {
					target.answers(func(_ int, issue int64) error { <-time.After(time.Duration(issue%10) * time.Minute / 2); return nil })
				}
				r := begin(t, d, target, 20)
				defer r.end()
				<-time.After(6 * time.Minute)
				synctest.Wait()
				if m := r.operate(threads.OpStop); m.Phase != threads.PhasePaused || m.Phase.Status() != threads.Idle {
					t.Errorf("%+v", m)
				}
				asked := target.asked
				<-time.After(5 * time.Minute)
				if target.asked != asked {
					t.Errorf("%d requests after the stop", target.asked-asked)
				}
				r.operate(threads.OpCancel)
				if c.slow && len(target.all()) == 0 {
					t.Error("nothing was written")
				}
				r.holds(target.all())
			})
		})
	}
}

// A database that is away fails nothing, however long it is; neither does one
// whose answers are lost.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	proxy, url := dbtest.NewProxy(t, dbtest.PostgresURL(t))
	d := dbtest.Open(t, db.Options{URL: url, NodeID: "node_1"})
	if err := d.Migrate(t.Context(), schema...); err != nil {
		t.Fatal(err)
	}
	records, mappings := threadstest.Many(2000, 3)
	for name, target := range map[string]*memory{"embedded": nil, "target": newMemory(func(int, int64) error { <-time.After(100 * time.Microsecond); return nil })} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, d, target)
			r.options.ChunkSize = 20
			defer r.end()
			r.work()
			r.load(records, mappings)
			r.await(threads.PhaseReady)
			r.operate(threads.OpStart)
			for r.migration().ChunksDone < 3 {
				<-time.After(time.Millisecond)
			}
			proxy.Away()
			<-time.After(200 * time.Millisecond)
			proxy.Back()
			r.await(threads.PhaseCompleted)
			r.check(records, mappings, nil)
			file := r.backupOf(maps.Collect(func(yield func(int64, threads.ParentMap) bool) {
				for i := range int64(3000) {
					if !yield(i, threads.ParentMap{{CommentID: i, ParentID: i + 1}}) {
						return
					}
				}
			}))
			r.restore(threads.RestoreReplace, file)
			<-time.After(20 * time.Millisecond)
			proxy.Away()
			<-time.After(200 * time.Millisecond)
			proxy.Back()
			if d := r.restored(); d.Done != 3000 {
				t.Errorf("%+v", d)
			}
			if n := len(r.stored()); n != 3000 {
				t.Error(n, "issues")
			}
			r.operate(threads.OpReset)
		})
	}
}
