package staging

import "slices"

// isSelfInCloud reports whether a record's comment and its parent are one comment
// in the cloud.
func isSelfInCloud(r joinedRow) bool {
	const both = commentMapped | parentMapped
	return r.flags&both == both && r.cloud == r.cloudParent
}

// cloudEdge is a record as the cloud has it: a comment and its parent.
type cloudEdge struct {
	from, to int // places in cloudGraph.ids
	record   int
}

// markCloudCycles marks the records of the issue that are part of a cycle of
// cloud ids. Where no comment shares its cloud id with another one, those are
// the cycles of server ids, which are marked already.
func (g *graph) markCloudCycles() {
	if !slices.ContainsFunc(g.records, func(r joinedRow) bool { return r.flags&commentShared != 0 }) {
		return
	}
	var ids []int64
	mapped := func(r joinedRow) bool {
		return r.flags&commentMapped != 0 && r.flags&parentMapped != 0 && r.cloud != r.cloudParent
	}
	for _, r := range g.records {
		if mapped(r) {
			ids = append(ids, r.cloud, r.cloudParent)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var edges []cloudEdge
	for n, r := range g.records {
		if mapped(r) {
			from, _ := slices.BinarySearch(ids, r.cloud)
			to, _ := slices.BinarySearch(ids, r.cloudParent)
			edges = append(edges, cloudEdge{from, to, n})
		}
	}
	component := components(len(ids), edges)
	for _, e := range edges {
		if component[e.from] == component[e.to] {
			g.cycle[e.record] = true
		}
	}
}

// components returns every node the number of its strongly connected component:
// an edge is part of a cycle where both its ends are in the same one. It goes
// through the graph in both directions (Kosaraju), without recursion, since
// threads may be as deep as an issue is long.
func components(nodes int, edges []cloudEdge) []int {
	forward := adjacency(nodes, edges, func(e cloudEdge) (int, int) { return e.from, e.to })
	backward := adjacency(nodes, edges, func(e cloudEdge) (int, int) { return e.to, e.from })
	order := make([]int, 0, nodes)
	seen := make([]bool, nodes)
	for start := range nodes {
		visit(start, forward, seen, func(n int) { order = append(order, n) })
	}
	component := make([]int, nodes)
	clear(seen)
	for i, start := range slices.Backward(order) {
		visit(start, backward, seen, func(n int) { component[n] = i })
	}
	return component
}

// adjacency lists for every node where the edges lead.
func adjacency(nodes int, edges []cloudEdge, ends func(cloudEdge) (from, to int)) [][]int {
	next := make([][]int, nodes)
	for _, e := range edges {
		from, to := ends(e)
		next[from] = append(next[from], to)
	}
	return next
}

// visit goes from a node to all that were not seen, and calls leave for each
// after those behind it.
func visit(start int, next [][]int, seen []bool, leave func(int)) {
	if seen[start] {
		return
	}
	seen[start] = true
	type step struct{ node, taken int }
	path := []step{{start, 0}}
	for len(path) > 0 {
		at := &path[len(path)-1]
		if at.taken == len(next[at.node]) {
			leave(at.node)
			path = path[:len(path)-1]
			continue
		}
		to := next[at.node][at.taken]
		at.taken++
		if !seen[to] {
			seen[to] = true
			path = append(path, step{to, 0})
		}
	}
}
