package db_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// leaseModel is what leases promise: one holder of a name at a time, a fence
// that no holder had before for each, and no write behind an old one.
type leaseModel struct {
	t     *testing.T
	d     *db.DB
	nodes []*db.Leases
	run   int // makes the names of one run its own

	holder map[string]int       // the node that the row belongs to; absent when free
	fence  map[string]int64     // the last fence given
	given  []held               // every lease ever given
	lost   map[*db.Lease]string // why it must not be good any more
}

type held struct {
	node  int
	lease *db.Lease
}

func TestLeaseModel(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		run := 0
		rapid.Check(t, func(r *rapid.T) {
			run++
			m := &leaseModel{t: t, d: d, run: run, nodes: make([]*db.Leases, 3),
				holder: map[string]int{}, fence: map[string]int64{}, lost: map[*db.Lease]string{}}
			for node := range m.nodes {
				m.start(r, node)
			}
			defer func() {
				for _, l := range m.nodes {
					l.Stop()
				}
			}()
			r.Repeat(map[string]func(*rapid.T){
				"acquire": m.acquire,
				"release": m.release,
				"renew":   m.renew,
				"lapse":   m.lapse,
				"restart": m.restart,
				"stop":    m.stop,
				"write":   m.write,
				"":        m.invariant,
			})
		})
	})
}

func (m *leaseModel) node(r *rapid.T) int {
	return rapid.IntRange(0, len(m.nodes)-1).Draw(r, "node")
}

func (m *leaseModel) name(r *rapid.T) string {
	return fmt.Sprintf("%d/%s", m.run, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "name"))
}

func (m *leaseModel) start(r *rapid.T, node int) {
	m.nodes[node] = db.NewLeases(m.d, fmt.Sprintf("node_%d_%d", m.run, node), nil)
	m.nodes[node].Every = time.Hour // only renew renews: a killed process does not
	if err := m.nodes[node].Start(m.t.Context()); err != nil {
		r.Fatal(err)
	}
}

func (m *leaseModel) acquire(r *rapid.T) {
	node, name := m.node(r), m.name(r)
	lease, err := m.nodes[node].Acquire(m.t.Context(), name)
	if err != nil {
		r.Fatal(err)
	}
	holder, isHeld := m.holder[name]
	// A row that lapsed in the database is free to the others, and to its
	// holder only once they know.
	if isHeld && lease != nil || !isHeld && lease == nil && !m.believes(node, name) {
		r.Fatalf("%s, held by %d (%v), went to %d: %v", name, holder, isHeld, node, lease)
	}
	if lease == nil {
		return
	}
	if lease.Fence() <= m.fence[name] {
		r.Fatalf("the fence of %s went from %d to %d", name, m.fence[name], lease.Fence())
	}
	m.holder[name], m.fence[name] = node, lease.Fence()
	m.given = append(m.given, held{node, lease})
}

// believes reports whether node counts on a lease of that name.
func (m *leaseModel) believes(node int, name string) bool {
	for _, h := range m.given {
		if h.node == node && h.lease.Name() == name && h.lease.Good(0) {
			return true
		}
	}
	return false
}

func (m *leaseModel) release(r *rapid.T) {
	if len(m.given) == 0 {
		return
	}
	h := rapid.SampledFrom(m.given).Draw(r, "lease")
	if err := m.nodes[h.node].Release(m.t.Context(), h.lease); err != nil {
		r.Fatal(err)
	}
	m.lost[h.lease] = "it was released"
	if m.fence[h.lease.Name()] == h.lease.Fence() {
		delete(m.holder, h.lease.Name())
	}
}

// renew brings the rows back to who believes in them, unless another has one.
func (m *leaseModel) renew(r *rapid.T) {
	node := m.node(r)
	if err := m.nodes[node].RenewOnce(m.t.Context()); err != nil {
		r.Fatal(err)
	}
	for _, h := range m.given {
		if h.node != node || !h.lease.Good(0) {
			continue
		}
		if m.fence[h.lease.Name()] != h.lease.Fence() {
			r.Fatalf("%s has another fence, and the renewal did not tell", h.lease.Name())
		}
		m.holder[h.lease.Name()] = node
	}
}

func (m *leaseModel) lapse(r *rapid.T) {
	name := m.name(r)
	lapse(m.t, m.d, name)
	delete(m.holder, name)
}

// restart is a kill, and a start of the same node.
func (m *leaseModel) restart(r *rapid.T) {
	node := m.node(r)
	dead := m.nodes[node]
	m.start(r, node)
	m.give(node, "its process was killed")
	m.t.Cleanup(dead.Stop)
}

func (m *leaseModel) stop(r *rapid.T) {
	node := m.node(r)
	m.nodes[node].Stop()
	m.give(node, "its node was stopped")
	m.start(r, node)
}

// give notes that node holds nothing any more.
func (m *leaseModel) give(node int, why string) {
	for name, holder := range m.holder {
		if holder == node {
			delete(m.holder, name)
		}
	}
	kept := m.given[:0]
	for _, h := range m.given {
		if h.node == node {
			m.lost[h.lease] = why
			if why == "its process was killed" {
				continue // there is no node left to ask
			}
		}
		kept = append(kept, h)
	}
	m.given = kept
}

// write succeeds behind the last fence given, if the lease was not taken since.
func (m *leaseModel) write(r *rapid.T) {
	if len(m.given) == 0 {
		return
	}
	lease := rapid.SampledFrom(m.given).Draw(r, "lease").lease
	err := fenced(m.t, m.d, lease)
	if old := m.fence[lease.Name()] != lease.Fence(); old && err == nil {
		r.Fatalf("%s: a write behind the fence %d went through after %d", lease.Name(), lease.Fence(), m.fence[lease.Name()])
	}
	if m.lost[lease] == "" && m.fence[lease.Name()] == lease.Fence() && err != nil {
		r.Fatalf("%s: the holder's write was refused: %v", lease.Name(), err)
	}
}

func (m *leaseModel) invariant(r *rapid.T) {
	for _, h := range m.given {
		if why := m.lost[h.lease]; why != "" && h.lease.Good(0) {
			r.Fatalf("%s is good although %s", h.lease.Name(), why)
		}
	}
}
