package work

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const shardCount = 64

// cluster is some nodes on one database, and who works on which shard.
type cluster struct {
	t *testing.T
	d *db.DB

	mu     sync.Mutex
	active int
	works  [shardCount]string
	nodes  []*node
}

type node struct {
	*Shards
	leases *db.Leases
	active bool
	broken error // what members answers
}

// join starts a node. One that renews too seldom is as good as dead once it
// has its shards.
func (c *cluster) join(name string, lease, renew time.Duration) *node {
	c.t.Helper()
	n := &node{leases: db.NewLeases(c.d, name, nil)}
	n.leases.Time, n.leases.Every = lease, renew
	if err := n.leases.Start(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(n.leases.Stop)
	members := func(context.Context) (int, int, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !n.active {
			return 0, c.active, n.broken
		}
		return 1, c.active, n.broken
	}
	n.Shards = NewShards("test", shardCount, n.leases, members, func(ctx context.Context, shard int, lease *db.Lease) {
		c.begin(name, shard)
		<-ctx.Done()
		c.end(name, shard)
	})
	c.set(n, true)
	if err := n.Start(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(n.Shards.Stop)
	c.mu.Lock()
	c.nodes = append(c.nodes, n)
	c.mu.Unlock()
	return n
}

func (c *cluster) set(n *node, active bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.active != active {
		n.active = active
		if active {
			c.active++
		} else {
			c.active--
		}
	}
}

func (c *cluster) begin(name string, shard int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.works[shard] != "" {
		c.t.Errorf("%s begins shard %d while %s works on it", name, shard, c.works[shard])
	}
	c.works[shard] = name
}

func (c *cluster) end(name string, shard int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.works[shard] == name {
		c.works[shard] = ""
	}
}

// await kicks every node until each holds what want says.
func (c *cluster) await(want map[string]int) {
	c.t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		got := c.count()
		same := true
		for name, n := range want {
			same = same && got[name] == n
		}
		if same {
			return
		}
		select {
		case <-deadline:
			c.t.Fatalf("the nodes hold %v, want %v", got, want)
		case <-tick.C:
			c.mu.Lock()
			for _, n := range c.nodes {
				n.Wake()
			}
			c.mu.Unlock()
		}
	}
}

func (c *cluster) count() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := map[string]int{}
	for _, name := range c.works {
		got[name]++
	}
	return got
}

func TestNodesShareTheShards(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := &cluster{t: t, d: d}
		a := c.join("a", db.LeaseTime, db.RenewEvery)
		c.await(map[string]int{"a": 64})
		b := c.join("b", db.LeaseTime, db.RenewEvery)
		c.await(map[string]int{"a": 32, "b": 32})
		third := c.join("c", db.LeaseTime, db.RenewEvery)
		c.await(map[string]int{"": 0, "c": 20, "a": 22, "b": 22})

		// A PASSIVE node holds none, and gets its share again.
		c.set(b, false)
		c.await(map[string]int{"b": 0, "a": 32, "c": 32})
		c.set(b, true)
		c.await(map[string]int{"": 0, "b": 20})

		// An orderly stop gives everything back at once.
		c.set(b, false)
		b.Shards.Stop()
		c.set(third, false)
		third.Shards.Stop()
		c.await(map[string]int{"a": 64})
		if n := b.Held(); n != 0 {
			t.Errorf("a stopped node holds %d", n)
		}

		// While the members cannot be read nothing changes.
		c.mu.Lock()
		a.broken = errors.New("database away")
		c.mu.Unlock()
		if _, err := a.runOnce(t.Context()); err == nil || a.Held() != 64 {
			t.Errorf("without members: %v, holds %d", err, a.Held())
		}
		a.Shards.Stop()
		if got := c.count(); got[""] != 64 {
			t.Errorf("after all stopped: %v", got)
		}
	})
}

func TestShardsOfADeadNodeMoveOn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := &cluster{t: t, d: d}
		c.join("a", db.LeaseTime, db.RenewEvery)
		c.await(map[string]int{"a": 64})
		dead := c.join("dead", time.Second, time.Hour)
		c.await(map[string]int{"a": 32, "dead": 32})
		dead.Shards.Stop() // it looks at its share no more …
		_, names, _ := dead.compare(shardCount)
		taken, err := dead.leases.AcquireSome(t.Context(), names, 32)
		if err != nil || len(taken) != 32 {
			t.Fatalf("took %d, %v", len(taken), err)
		}
		c.set(dead, false)               // … is found OFFLINE,
		c.await(map[string]int{"a": 64}) // and its leases lapse
		for _, lease := range taken {
			if lease.Good(0) {
				t.Errorf("%s was taken over before its holder knew", lease.Name())
			}
		}
	})
}

func TestRunThatReturnsGivesItsShardBack(t *testing.T) {
	d := dbtest.SQLite(t)
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	leases := db.NewLeases(d, "a", nil)
	if err := leases.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer leases.Stop()
	fences := make(chan int64)
	s := NewShards("test", 1, leases, func(context.Context) (int, int, error) { return 1, 1, nil },
		func(_ context.Context, _ int, lease *db.Lease) { fences <- lease.Fence() })
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err == nil {
		t.Error("started twice")
	}
	defer s.Stop()
	first := <-fences
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.Wake()
			continue
		case second := <-fences:
			if second <= first {
				t.Errorf("the shard came back with fence %d after %d", second, first)
			}
			return
		}
	}
}

func TestNodeThatBecomesActiveBeginsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dbtest.SQLite(t)
		if err := d.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		leases := db.NewLeases(d, "a", nil)
		if err := leases.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer leases.Stop()
		ready := time.Now().Add(time.Minute)
		begun := make(chan time.Time, shardCount)
		s := NewShards("test", shardCount, leases, func(context.Context) (int, int, error) {
			if time.Now().Before(ready) {
				return 0, 0, nil
			}
			return 1, 1, nil
		}, func(ctx context.Context, _ int, _ *db.Lease) {
			begun <- time.Now()
			<-ctx.Done()
		})
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
		for range shardCount {
			if late := (<-begun).Sub(ready); late < 0 || late > idleEvery {
				t.Fatalf("a shard began %v after the node was ready", late)
			}
		}
	})
}

func TestShare(t *testing.T) {
	for n := range 130 {
		for active := 1; active < 20; active++ {
			if s := share(n, 1, active); s*active < n || (s-1)*active >= n && s > 0 {
				t.Errorf("of %d shards %d nodes hold %d each", n, active, s)
			}
			if s := share(n, 0, active); s != 0 {
				t.Errorf("a node that is not active holds %d", s)
			}
		}
	}
	if s := share(64, 1, 0); s != 64 {
		t.Errorf("a node that finds none active but itself holds %d", s)
	}
}
