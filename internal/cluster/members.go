package cluster

import (
	"context"
	"time"
)

// countFor is how long a count of the members is good: several loops ask at
// every look at their share.
const countFor = time.Second

// Members says whether this node is ACTIVE (1, else 0) and how many nodes are,
// for work.Shards. The answer is at most 1 s old.
func (c *Cluster) Members(ctx context.Context) (self, active int, err error) {
	c.counting.Lock()
	defer c.counting.Unlock()
	if !c.countedAt.IsZero() && time.Since(c.countedAt) < countFor {
		return c.counted.self, c.counted.active, nil
	}
	asked := time.Now()
	if err := c.db.Get(ctx, "counting the active nodes", []any{&active, &self},
		`SELECT COUNT(*), COALESCE(SUM(CASE WHEN id = $1 THEN 1 ELSE 0 END), 0) FROM cluster_nodes WHERE state = $2`,
		c.o.NodeID, Active); err != nil {
		return 0, 0, err
	}
	c.counted.self, c.counted.active, c.countedAt = self, active, asked
	return self, active, nil
}

// recount has Members ask the database again.
func (c *Cluster) recount() {
	c.counting.Lock()
	defer c.counting.Unlock()
	c.countedAt = time.Time{}
}
