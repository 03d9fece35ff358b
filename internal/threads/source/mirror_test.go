package source

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is a database in memory, whose every third comment answers none.
type Host struct {
	Records []threads.Record // ordered by comment
	fail    error            // after the first page
	asked   chan struct{}    // told of every read; may be nil
}

func (h *Host) Read(_ context.Context, after int64, limit int) (records []threads.Record, last int64, more bool, err error) {
	if h.asked != nil {
		h.asked <- struct{}{}
	}
	from := threads.UpToComment(h.Records, after)
	if from > 0 && h.fail != nil {
		return nil, 0, false, h.fail
	}
	page := h.Records[from:min(from+limit, len(h.Records))]
	last = after
	for _, r := range page {
		last = r.CommentID
		if !isRoot(r) {
			records = append(records, r)
		}
	}
	return records, last, len(page) == limit, nil
}

func isRoot(r threads.Record) bool { return r.CommentID%3 == 0 }

func (h *Host) Export() []threads.Record {
	m := model{}
	for _, r := range h.Records {
		if !isRoot(r) {
			m[r.CommentID] = r
		}
	}
	return m.export()
}

// grow changes a host: of n comments from the given one on some come, some go,
// some move or get another parent.
func (h *Host) grow(rnd *rand.Rand, from, n int64) {
	now := map[int64]threads.Record{}
	for _, r := range h.Records {
		now[r.CommentID] = r
	}
	for id := from; id < from+n; id++ {
		switch rnd.IntN(4) {
		case 0:
			delete(now, id)
		case 1:
			now[id] = Rec(rnd.Int64N(n/10+1), id, id-1-rnd.Int64N(20))
		}
	}
	h.Records = h.Records[:0]
	for _, r := range now {
		h.Records = append(h.Records, r)
	}
	slices.SortFunc(h.Records, func(a, b threads.Record) int { return cmp.Compare(a.CommentID, b.CommentID) })
}

// Whatever happens to the host's comments, a pass makes the export what the
// host has.
func TestMirrorIsTheHost(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		rnd := rand.New(rand.NewPCG(1, 2))
		h := &Host{}
		s := store.NewSource(d)
		m := NewMirror(s, h, time.Hour, NewLeases(t, d, "a"), nil)
		for round := range 6 {
			switch round {
			case 4: // much goes at once, more than a slice reads
				h.Records = h.Records[len(h.Records)-3:]
			case 5:
				h.Records = nil
			default:
				h.grow(rnd, int64(100+1500*round), 6000)
			}
			if err := s.MirrorNow(t.Context(), false, 0); err != nil {
				t.Fatal(err)
			}
			result, err := m.runOnce(t.Context())
			if held := (*heldError)(nil); errors.As(err, &held) != (round >= 4) {
				t.Fatalf("round %d: %v", round, err)
			} else if held != nil {
				if err := s.MirrorNow(t.Context(), true, 0); err != nil {
					t.Fatal(err)
				}
				result, err = m.runOnce(t.Context())
			}
			if err != nil || !result.Ran {
				t.Fatalf("round %d: %+v, %v", round, result, err)
			}
			want := h.Export()
			if diff := gocmp.Diff(want, Everything(t, s, 10_000)); diff != "" {
				t.Fatalf("round %d: %s", round, diff)
			}
			if result.Added+result.Replaced+result.Unchanged != int64(len(want)) {
				t.Errorf("round %d: %+v of %d", round, result, len(want))
			}
			if again, err := m.runOnce(t.Context()); err != nil || again.Ran {
				t.Errorf("it is due again: %+v, %v", again, err)
			}
		}
	}, audit.Migrations, store.Migrations)
}

// A pass that fails says why, and takes nothing away that it has not read.
func TestMirrorFails(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	d := dbtest.Open(t, db.Options{Dir: t.TempDir(), NodeID: "a", Clock: func() time.Time { return now }})
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	h := &Host{}
	h.grow(rand.New(rand.NewPCG(3, 4)), 1, 42_000)
	s := store.NewSource(d)
	m := NewMirror(s, h, time.Hour, NewLeases(t, d, "a"), nil)
	if _, err := m.runOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := Everything(t, s, 10_000)

	h.fail = errors.New("the host's disk is gone")
	now = now.Add(59 * time.Minute)
	if result, err := m.runOnce(t.Context()); err != nil || result.Ran {
		t.Errorf("before its time: %+v, %v", result, err)
	}
	now = now.Add(time.Minute)
	if result, err := m.runOnce(t.Context()); !errors.Is(err, h.fail) || !result.Ran {
		t.Errorf("the failure: %+v, %v", result, err)
	}
	st, err := s.State(t.Context())
	if err != nil || st.Failure != "The hierarchy was not mirrored: the host's disk is gone." || now.Sub(st.MirroredAt) != time.Hour {
		t.Errorf("%+v, %v", st, err)
	}
	if got := Everything(t, s, 10_000); !slices.Equal(got, want) {
		t.Error("the export changed")
	}
	h.fail = nil
	now = now.Add(mirrorAgain)
	if result, err := m.runOnce(t.Context()); err != nil || !result.Ran {
		t.Errorf("again: %+v, %v", result, err)
	}
	if st, err := s.State(t.Context()); err != nil || st.Failure != "" || !st.MirroredAt.Equal(now) {
		t.Errorf("%+v, %v", st, err)
	}
}

// Of two nodes one mirrors; a node that has lost its lease writes nothing more.
func TestMirrorOnOneNode(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := &Host{}
		h.grow(rand.New(rand.NewPCG(5, 6)), 1, 500)
		s := store.NewSource(d)
		mine := NewLeases(t, d, "a")
		lease := AcquireLease(t, mine, mirrorLease)
		other := NewMirror(store.NewSource(d), h, time.Hour, NewLeases(t, d, "b"), nil)
		if result, err := other.runOnce(t.Context()); err != nil || result.Ran {
			t.Errorf("beside another node: %+v, %v", result, err)
		}
		if err := mine.Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		if result, err := other.runOnce(t.Context()); err != nil || !result.Ran {
			t.Errorf("after it: %+v, %v", result, err)
		}
		if _, _, err := s.Mirror(t.Context(), lease, 0, 100, nil, math.MaxInt64); !fault.Is(err, fault.Conflict) {
			t.Errorf("with a lease that is another's: %v", err)
		}
		if diff := gocmp.Diff(h.Export(), Everything(t, s, 100)); diff != "" {
			t.Error(diff)
		}
	}, audit.Migrations, store.Migrations)
}

func TestMirrorStartsAndStops(t *testing.T) {
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	h := &Host{asked: make(chan struct{})}
	s := store.NewSource(d)
	m := NewMirror(s, h, time.Hour, NewLeases(t, d, "a"), nil)
	m.Start(t.Context())
	<-h.asked
	for { // the first pass must have ended before a second is ordered
		st, err := s.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !st.MirroredAt.IsZero() {
			break
		}
	}
	if err := s.MirrorNow(t.Context(), false, 0); err != nil {
		t.Fatal(err)
	}
	m.Wake()
	<-h.asked
	m.Stop()
}

// Two administrators accept at once, on two nodes, that many records are removed, ten
// times in turn: one reading removes them. When that would remove more by then, nothing
// is removed, and who accepts what they saw before is told the number of now.
func TestTwoAcceptARemovalAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := &Host{}
		many := func(from, n int64) {
			h.Records = h.Records[:0:0]
			for id := range n {
				h.Records = append(h.Records, Rec(id/10, from+3*id+1, 5))
			}
		}
		stores := []*store.Source{store.NewSource(d), store.NewSource(d)}
		m := NewMirror(stores[0], h, time.Hour, NewLeases(t, d, "a"), nil)
		pass := func(removes int64) {
			t.Helper()
			_, err := m.runOnce(t.Context())
			held := (*heldError)(nil)
			if errors.As(err, &held) != (removes > 0) || held != nil && held.removes != removes || held == nil && err != nil {
				t.Fatalf("want %d held: %v", removes, err)
			}
		}
		many(0, 100)
		pass(0)
		for turn := range int64(10) {
			many((turn+1)*30_000, 100)
			if err := stores[0].MirrorNow(t.Context(), false, 0); err != nil {
				t.Fatal(err)
			}
			pass(100)
			var both sync.WaitGroup
			for _, s := range stores {
				both.Go(func() {
					if err := s.MirrorNow(t.Context(), true, 100); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			pass(0)
			if got := Everything(t, stores[0], 1000); !slices.Equal(got, h.Export()) {
				t.Fatalf("turn %d: %d records", turn, len(got))
			}
			for _, s := range stores {
				if err := s.MirrorNow(t.Context(), true, 100); !fault.Is(err, fault.Conflict) {
					t.Errorf("a word after the removal: %v", err)
				}
			}
			// Both have seen that 60 go; when the first has accepted that, 70 do.
			all := h.Records
			h.Records = all[60:]
			if err := stores[0].MirrorNow(t.Context(), false, 0); err != nil {
				t.Fatal(err)
			}
			pass(60)
			if err := stores[0].MirrorNow(t.Context(), true, 60); err != nil {
				t.Fatal(err)
			}
			h.Records = all[70:]
			pass(70)
			if err := stores[1].MirrorNow(t.Context(), true, 60); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "70 of 100 records") {
				t.Errorf("a word for what was seen before: %v", err)
			}
			if got := Everything(t, stores[0], 1000); len(got) != 100 {
				t.Errorf("%d records are left without a word for that", len(got))
			}
			h.Records = all
			if err := stores[1].MirrorNow(t.Context(), false, 0); err != nil {
				t.Fatal(err)
			}
			pass(0)
		}
	}, audit.Migrations, store.Migrations)
}
