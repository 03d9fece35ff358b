package processing

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// Two comments that map to one make no comment its own parent, and a later
// migration closes no cycle with an earlier one.
func TestNoCycleInTarget(t *testing.T) {
	issue := threads.IDMapping{EntityType: threads.EntityIssue, ServerID: 1, CloudID: 9}
	comment := func(server, cloud int64) threads.IDMapping {
		return threads.IDMapping{EntityType: threads.EntityComment, ServerID: server, CloudID: cloud}
	}
	plain := []threads.IDMapping{issue, comment(10, 110), comment(11, 111), comment(12, 112), comment(13, 113)}
	// answers are the records of issue 1, and parents a map, from pairs.
	answers := func(pairs ...int64) (list []threads.Record) {
		for pair := range slices.Chunk(pairs, 2) {
			list = append(list, threads.Record{IssueID: 1, CommentID: pair[0], ParentCommentID: pair[1]})
		}
		return list
	}
	parents := func(pairs ...int64) (m threads.ParentMap) {
		for pair := range slices.Chunk(pairs, 2) {
			m = append(m, threads.Relation{CommentID: pair[0], ParentID: pair[1]})
		}
		return m
	}
	for name, c := range map[string]struct {
		before  threads.ParentMap
		mapping []threads.IDMapping
		records []threads.Record
		reasons map[int64]threads.Reason // by comment
		after   threads.ParentMap
	}{
		"a comment and its parent are one": {nil, []threads.IDMapping{issue, comment(10, 110), comment(11, 110), comment(12, 112)},
			answers(11, 10, 12, 11), map[int64]threads.Reason{11: threads.SelfParent}, parents(112, 110)},
		"two replies are one": {nil, []threads.IDMapping{issue, comment(10, 110), comment(11, 111), comment(12, 111)},
			answers(11, 10, 12, 10), map[int64]threads.Reason{11: threads.SameTarget, 12: threads.SameTarget}, nil},
		"a reply and a comment without one are one": {nil, []threads.IDMapping{issue, comment(10, 110), comment(11, 111), comment(20, 111)},
			answers(11, 10), map[int64]threads.Reason{11: threads.SameTarget}, nil},
		"a cycle of cloud ids": {nil, []threads.IDMapping{issue, comment(10, 110), comment(11, 111), comment(12, 111), comment(13, 110)},
			answers(11, 10, 13, 12), map[int64]threads.Reason{11: threads.Cycle, 13: threads.Cycle}, nil},
		"a cycle with an earlier migration": {parents(110, 111), plain,
			answers(11, 10, 12, 11), map[int64]threads.Reason{11: threads.Cycle}, parents(110, 111, 112, 111)},
		"a longer one": {parents(110, 111, 112, 113), plain,
			answers(11, 12, 13, 10), map[int64]threads.Reason{11: threads.Cycle, 13: threads.Cycle}, parents(110, 111, 112, 113)},
		"what comes back closes another": {parents(110, 111, 111, 112), plain,
			answers(11, 10, 12, 10), map[int64]threads.Reason{11: threads.Cycle, 12: threads.Cycle}, parents(110, 111, 111, 112)},
		"the same again": {parents(111, 110, 112, 111), plain,
			answers(11, 10, 12, 11), nil, parents(111, 110, 112, 111)},
		"the other way round": {parents(111, 110), plain,
			answers(10, 11, 11, 13), nil, parents(110, 111, 111, 113)},
	} {
		t.Run(name, func(t *testing.T) {
			onBothKinds(t, func(r *rig) {
				r.holding(map[int64]threads.ParentMap{9: c.before})
				m := r.do(c.records, c.mapping)
				want := map[int64]threads.ParentMap{}
				if len(c.after) > 0 {
					want[9] = c.after
				}
				r.holds(want)
				got := map[int64]threads.Reason{}
				for record, reason := range r.errors() {
					got[record.CommentID] = reason
				}
				if !maps.Equal(got, c.reasons) || m.Permanent != int64(len(got)) || m.ParentMaps != int64(len(c.records)-len(got)) {
					t.Errorf("the errors are %v: %+v", got, m)
				}
			})
		})
	}
}

// onBothKinds runs something on SQLite and PostgreSQL with the database itself
// as the target, and with one that is asked issue by issue.
func onBothKinds(t *testing.T, run func(*rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, target := range []*memory{nil, newMemory(nil)} {
			r := newRig(t, d, target)
			r.work()
			run(r)
			r.operate(threads.OpReset)
			r.end()
		}
	}, schema...)
}

// holding has the target hold maps, as an earlier migration or another program has
// left them.
func (r *rig) holding(list map[int64]threads.ParentMap) {
	r.t.Helper()
	maps.DeleteFunc(list, func(_ int64, m threads.ParentMap) bool { return len(m) == 0 })
	if r.target != nil {
		r.target.maps = maps.Clone(list)
	}
	if len(list) > 0 {
		r.restore(threads.RestoreReplace, r.backupOf(list))
		r.restored()
	}
}

// Whatever the mappings and whatever the target holds: it gets no cycle and no
// comment that is its own parent, loses nothing, has every record that is no
// error, and a second run changes nothing.
func TestCyclesProperty(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		rapid.Check(t, func(rt *rapid.T) {
			records := threadstest.Records(rt)
			mappings := threadstest.Collide(rt, threadstest.Mappings(rt, records))
			held := heldMaps(rt, records, mappings)
			for _, target := range []*memory{nil, newMemory(nil)} {
				r := newRig(rt, d, target)
				r.work()
				r.holding(maps.Clone(held))
				m := r.do(records, mappings)
				first, errors := r.stored(), r.errors()
				acyclic(rt, first)
				judged(rt, m, first, errors, held, records, mappings)
				r.operate(threads.OpReset)
				r.do(records, mappings)
				r.holds(first)
				if again := r.errors(); !maps.Equal(again, errors) {
					rt.Errorf("the errors are %v, and then %v", errors, again)
				}
				r.operate(threads.OpReset)
				r.end()
			}
		})
	}, schema...)
}

// heldMaps draws forests of the comments that records name, in their issues.
func heldMaps(rt *rapid.T, records []threads.Record, mappings []threads.IDMapping) map[int64]threads.ParentMap {
	cloud := map[string]map[int64]int64{threads.EntityComment: {}, threads.EntityIssue: {}}
	for _, m := range mappings {
		if ids := cloud[m.EntityType]; ids != nil {
			ids[m.ServerID] = m.CloudID
		}
	}
	comments := map[int64][]int64{}
	for _, r := range records {
		if issue := cloud[threads.EntityIssue][r.IssueID]; issue != 0 {
			for _, id := range []int64{r.CommentID, r.ParentCommentID} {
				if c := cloud[threads.EntityComment][id]; c != 0 && !slices.Contains(comments[issue], c) {
					comments[issue] = append(comments[issue], c)
				}
			}
		}
	}
	held := map[int64]threads.ParentMap{}
	for _, issue := range slices.Sorted(maps.Keys(comments)) {
		order := rapid.Permutation(comments[issue]).Draw(rt, "order")
		var list []threads.Relation
		for i := 1; i < len(order); i++ {
			if rapid.IntRange(0, 2).Draw(rt, "held") > 0 {
				list = append(list, threads.Relation{CommentID: order[i], ParentID: order[rapid.IntRange(0, i-1).Draw(rt, "parent")]})
			}
		}
		held[issue] = threads.NewParentMap(list)
	}
	return held
}

func acyclic(rt *rapid.T, target map[int64]threads.ParentMap) {
	for issue, m := range target {
		for _, r := range m {
			at, ok := r.ParentID, true
			for steps := 0; ok; steps++ {
				if at == r.CommentID || steps > len(m) {
					rt.Fatalf("issue %d has a cycle at %d: %v", issue, r.CommentID, m)
				}
				at, ok = m.Parent(at)
			}
		}
	}
}

// judged holds a target against what was there before, the data and its errors.
func judged(rt *rapid.T, m threads.Migration, target map[int64]threads.ParentMap, errors map[threads.Record]threads.Reason, held map[int64]threads.ParentMap,
	records []threads.Record, mappings []threads.IDMapping) {
	model := threadstest.NewModel(records, mappings)
	if m.Permanent != int64(len(errors)) || m.ParentMaps != int64(len(model.Records)-len(errors)) {
		rt.Errorf("%d records, %d errors: %+v", len(model.Records), len(errors), m)
	}
	for record, reason := range model.Reasons {
		if errors[record] != reason {
			rt.Errorf("%v is %q, not %q", record, errors[record], reason)
		}
	}
	for record, reason := range errors {
		if model.Reasons[record] == "" && reason != threads.Cycle {
			rt.Errorf("%v is %q", record, reason)
		}
	}
	for issue, old := range held {
		for _, r := range old {
			if _, ok := target[issue].Parent(r.CommentID); !ok {
				rt.Errorf("issue %d has lost the parent of %d", issue, r.CommentID)
			}
		}
	}
	for _, record := range model.Records {
		if errors[record] != "" {
			continue
		}
		issue, want := model.Cloud(record)
		if parent, ok := target[issue].Parent(want.CommentID); !ok || parent != want.ParentID {
			rt.Errorf("issue %d has %d as the parent of %d, not %d", issue, parent, want.CommentID, want.ParentID)
		}
	}
}
