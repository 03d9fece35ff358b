package cluster

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place makes a node that beats only when the test says so.
func place(t *testing.T, d *db.DB, id string) *Cluster {
	t.Helper()
	return New(d, Options{NodeID: id, Address: "http://" + id, Version: "1", Clustered: true})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func beat(t *testing.T, c *Cluster) Result {
	t.Helper()
	r, err := c.runOnce(t.Context())
	must(t, err)
	return r
}

// stateOf is each node's state, by id.
func stateOf(t *testing.T, c *Cluster) map[string]State {
	t.Helper()
	nodes, err := c.Nodes(t.Context())
	must(t, err)
	all := map[string]State{}
	for _, n := range nodes {
		all[n.ID] = n.State
	}
	return all
}

func want(t *testing.T, c *Cluster, states map[string]State) {
	t.Helper()
	if diff := cmp.Diff(states, stateOf(t, c)); diff != "" {
		t.Error(diff)
	}
}

// age moves a node's last heartbeat back.
func age(t *testing.T, d *db.DB, id string, by time.Duration) {
	t.Helper()
	must(t, d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE cluster_nodes SET beat_at = beat_at - $2 WHERE id = $1`, id, by.Microseconds())
		return err
	}))
}

// beatenFor makes a node one that has been beating for a time.
func beatenFor(c *Cluster, by time.Duration) { c.beating = c.beating.Add(-by) }

func TestLifeOfANode(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		busy := 1
		a := New(d, Options{NodeID: "a", Address: "http://a", Version: "1.2", Clustered: true, InFlight: func() int { return busy }})
		var seen []State
		a.OnChange(func(n Node) { seen = append(seen, n.State) })
		must(t, a.register(t.Context()))
		want(t, a, map[string]State{"a": Activating})
		if self, active, err := a.Members(t.Context()); self != 0 || active != 0 || err != nil {
			t.Errorf("while it starts: %d of %d, %v", self, active, err)
		}
		if err := a.Drain(t.Context(), "a"); !fault.Is(err, fault.Conflict) || err.Error() != "The node a is ACTIVATING: only an ACTIVE node can be drained." {
			t.Errorf("drained while it starts: %v", err)
		}
		must(t, a.Activate(t.Context()))
		must(t, a.Activate(t.Context()))
		if self, active, err := a.Members(t.Context()); self != 1 || active != 1 || err != nil {
			t.Errorf("when ready: %d of %d, %v", self, active, err)
		}
		if err := a.Resume(t.Context(), "a"); !fault.Is(err, fault.Conflict) || err.Error() != "The node a is ACTIVE: only a PASSIVATING or PASSIVE node can be resumed." {
			t.Errorf("resumed while active: %v", err)
		}
		must(t, a.Drain(t.Context(), "a"))
		if self, active, err := a.Members(t.Context()); self != 0 || active != 0 || err != nil {
			t.Errorf("when drained: %d of %d, %v", self, active, err)
		}
		beat(t, a)
		want(t, a, map[string]State{"a": Passivating})
		busy = 0
		beat(t, a)
		want(t, a, map[string]State{"a": Passive})
		beat(t, a)
		must(t, a.Resume(t.Context(), "a"))
		must(t, a.Drain(t.Context(), "a"))
		must(t, a.Resume(t.Context(), "a"))
		must(t, a.Drain(t.Context(), "a"))

		// A drain does not survive a restart.
		again := place(t, d, "a")
		must(t, again.register(t.Context()))
		must(t, again.Activate(t.Context()))
		want(t, a, map[string]State{"a": Active})
		must(t, again.apply(t.Context(), "a", stops))
		want(t, a, map[string]State{"a": Offline})
		for _, err := range []error{a.Drain(t.Context(), "a"), a.Resume(t.Context(), "a")} {
			if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "is OFFLINE") {
				t.Errorf("when stopped: %v", err)
			}
		}
		for _, err := range []error{a.Drain(t.Context(), "b"), a.Resume(t.Context(), "b")} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("a node that is not there: %v", err)
			}
		}
		if diff := cmp.Diff([]State{Activating, Active, Passivating, Passive, Active, Passivating, Active, Passivating}, seen); diff != "" {
			t.Error(diff)
		}
	}, audit.Migrations, Migrations)
}

func TestSilentNodeIsOffline(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, b := place(t, d, "a"), place(t, d, "b")
		for _, c := range []*Cluster{a, b} {
			must(t, c.register(t.Context()))
			must(t, c.Activate(t.Context()))
		}
		age(t, d, "b", silence+time.Second)
		// a itself has not been beating for that long: it may have been away.
		if r := beat(t, a); r.Watching {
			t.Error("a node that has just begun judges others")
		}
		want(t, a, map[string]State{"a": Active, "b": Active})
		beatenFor(a, silence)
		if r := beat(t, a); !r.Watching || len(r.Changed) != 1 || r.Changed[0].ID != "b" {
			t.Errorf("the heartbeat did %+v", r)
		}
		want(t, a, map[string]State{"a": Active, "b": Offline})
		if self, active, err := a.Members(t.Context()); self != 1 || active != 1 || err != nil {
			t.Errorf("%d of %d, %v", self, active, err)
		}
		// Its heartbeat arrives again.
		beat(t, b)
		want(t, a, map[string]State{"a": Active, "b": Active})

		// After an outage of the database the first node to come back declares no other node OFFLINE.
		age(t, d, "b", silence+time.Second)
		a.lastBeat = a.lastBeat.Add(-silence)
		if r := beat(t, a); r.Watching {
			t.Error("a node that was away judges others")
		}
		want(t, a, map[string]State{"a": Active, "b": Active})

		// A heartbeat just in time is one.
		age(t, d, "b", -2*time.Second)
		beatenFor(a, silence)
		beat(t, a)
		want(t, a, map[string]State{"a": Active, "b": Active})
	}, audit.Migrations, Migrations)
}

func TestNodeThatStartsIsNotActiveWhenItIsHeardOfAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, b := place(t, d, "a"), place(t, d, "b")
		must(t, a.register(t.Context()))
		must(t, b.register(t.Context()))
		age(t, d, "a", time.Hour)
		beatenFor(b, silence)
		beat(t, b)
		want(t, a, map[string]State{"a": Offline, "b": Activating})
		beat(t, a)
		want(t, a, map[string]State{"a": Activating, "b": Activating})
		// An administrator removes the row of a node that lives all the same.
		must(t, a.Activate(t.Context()))
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `DELETE FROM cluster_nodes WHERE id = 'a'`)
			return err
		}))
		beat(t, a)
		want(t, a, map[string]State{"a": Active, "b": Activating})
	}, audit.Migrations, Migrations)
}

func TestAloneThereIsNobodyElse(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		former := place(t, d, "former-host-name")
		must(t, former.register(t.Context()))
		must(t, former.Activate(t.Context()))
		alone := New(d, Options{NodeID: "new-host-name"})
		must(t, alone.register(t.Context()))
		must(t, alone.Activate(t.Context()))
		want(t, alone, map[string]State{"former-host-name": Offline, "new-host-name": Active})
		if self, active, err := alone.Members(t.Context()); self != 1 || active != 1 || err != nil {
			t.Errorf("%d of %d, %v", self, active, err)
		}
		var gone []string
		must(t, d.Write(t.Context(), func(tx *db.Tx) (err error) {
			gone, err = OfflineSince(t.Context(), tx, tx.Now().Add(time.Second), 10)
			return err
		}))
		if len(gone) != 1 || gone[0] != "former-host-name" {
			t.Errorf("offline: %v", gone)
		}
		for id, code := range map[string]fault.Code{"former-host-name": "", "new-host-name": fault.Conflict, "another": fault.NotFound} {
			err := d.Write(t.Context(), func(tx *db.Tx) error { return Remove(t.Context(), tx, id) })
			if fault.CodeOf(err) != code {
				t.Errorf("removing %s: %v", id, err)
			}
		}
		want(t, alone, map[string]State{"new-host-name": Active})
	}, audit.Migrations, Migrations)
}

func TestGaps(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := place(t, d, "a")
		start := func(id string) Node {
			c := place(t, d, id)
			must(t, c.register(t.Context()))
			return c.Self()
		}
		start("a") // the first ever: nothing listened, and nothing was expected to
		age(t, d, "a", 30*time.Second)
		start("a") // a restart
		start("b")
		age(t, d, "a", time.Hour)
		start("a") // b was there
		age(t, d, "a", 2*time.Hour)
		age(t, d, "b", time.Hour)
		now := start("c").StartedAt
		start("a")
		gaps, err := a.Gaps(t.Context(), time.Time{})
		must(t, err)
		if len(gaps) != 1 || !gaps[0].To.Equal(now) || gaps[0].To.Sub(gaps[0].From).Round(time.Minute) != time.Hour {
			t.Errorf("gaps: %v, now %v", gaps, now)
		}
		if gaps, err = a.Gaps(t.Context(), now); err != nil || len(gaps) != 0 {
			t.Errorf("gaps after the last one: %v, %v", gaps, err)
		}
	}, audit.Migrations, Migrations)
}

// What administrators do to nodes is in the audit trail, in the transaction
// that does it; what nodes do by themselves is not.
func TestAudit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := place(t, d, "a")
		must(t, a.register(t.Context()))
		must(t, a.Activate(t.Context()))
		ctx := identity.With(t.Context(), &identity.Principal{Name: "ada", Source: identity.Local})
		must(t, a.Drain(ctx, "a"))
		beat(t, a)
		must(t, a.Resume(ctx, "a"))
		if err := a.Resume(ctx, "a"); !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
		var trail string
		must(t, d.Read(t.Context(), func(tx *db.Tx) error {
			rows, err := tx.Query(t.Context(), `SELECT who, action, object_id, before_json, after_json FROM audit_entries ORDER BY id`)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var who, action, id, before, after string
				if err := rows.Scan(&who, &action, &id, &before, &after); err != nil {
					return err
				}
				trail += who + " " + action + " " + id + " " + before + after + "\n"
			}
			return rows.Err()
		}))
		want := "ada drain a {\"state\":\"ACTIVE\"}{\"state\":\"PASSIVATING\"}\nada resume a {\"state\":\"PASSIVE\"}{\"state\":\"ACTIVE\"}\n"
		if diff := cmp.Diff(want, trail); diff != "" {
			t.Error(diff)
		}
	}, audit.Migrations, Migrations)
}

// Two nodes with short times: one dies, comes back, is drained by the other.
func TestTwoNodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var busy atomic.Int32
		busy.Store(1)
		a, b := place(t, d, "a"), place(t, d, "b")
		b.o.InFlight = func() int { return int(busy.Load()) }
		seen := make(chan Node, 100)
		a.OnChange(func(n Node) { seen <- n })
		await := func(id string, state State) {
			t.Helper()
			late := time.After(time.Minute)
			for {
				select {
				case n := <-seen:
					if n.ID == id && n.State == state {
						return
					}
				case <-late:
					t.Fatalf("%s did not become %s", id, state)
				}
			}
		}
		for _, c := range []*Cluster{a, b} {
			c.beat, c.drain, c.silence = 10*time.Millisecond, 10*time.Millisecond, 2*time.Second
			must(t, c.Start(t.Context()))
			must(t, c.Activate(t.Context()))
		}
		await("b", Active)
		must(t, a.Drain(t.Context(), "b"))
		await("b", Passivating)
		busy.Store(0)
		await("b", Passive)
		must(t, a.Resume(t.Context(), "b"))
		await("b", Active)
		b.stop() // killed
		<-b.through
		await("b", Offline)
		must(t, b.Start(t.Context()))
		await("b", Active) // a need not see that it was ACTIVATING in between
		must(t, b.Stop(context.Background()))
		await("b", Offline)
		must(t, a.Stop(context.Background()))
		want(t, a, map[string]State{"a": Offline, "b": Offline})
		if s := a.Self().State; s != Offline {
			t.Errorf("after its stop a believes it is %s", s)
		}
	}, audit.Migrations, Migrations)
}
