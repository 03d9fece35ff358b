package threadstest

import (
	"cmp"
	"maps"
	"slices"

	"outrigger/internal/threads"
)

// Model is what two files come to, worked out in the plainest way.
type Model struct {
	Records  []threads.Record                  // distinct, by issue and comment
	Reasons  map[threads.Record]threads.Reason // of those that are errors
	Maps     map[int64]threads.ParentMap       // by cloud issue
	Preview  threads.Preview                   // but for what the decoders say
	relation map[int64]map[int64]int64         // cloud issue, comment, parent
	mapped   map[string]map[int64]int64        // entity type, server id, cloud id
	last     map[int64]threads.Record          // by comment
	sharers  map[int64]int                     // comments of a cloud id
	collide  map[int64]bool                    // issues with a comment that shares its cloud id
}

// NewModel works it out.
func NewModel(records []threads.Record, mappings []threads.IDMapping) *Model {
	m := &Model{
		Reasons: map[threads.Record]threads.Reason{}, Maps: map[int64]threads.ParentMap{}, relation: map[int64]map[int64]int64{},
		mapped: map[string]map[int64]int64{threads.EntityComment: {}, threads.EntityIssue: {}}, last: map[int64]threads.Record{},
		sharers: map[int64]int{}, collide: map[int64]bool{},
	}
	m.Preview.Errors = map[threads.Reason]int64{}
	m.takeMappings(mappings)
	for _, r := range records {
		if _, again := m.last[r.CommentID]; again {
			m.Preview.DuplicateRecords++
		}
		m.last[r.CommentID] = r
	}
	for _, r := range m.last {
		m.Records = append(m.Records, r)
	}
	slices.SortFunc(m.Records, func(a, b threads.Record) int {
		return cmp.Or(cmp.Compare(a.IssueID, b.IssueID), cmp.Compare(a.CommentID, b.CommentID))
	})
	for _, r := range m.Records {
		if cloud, ok := m.mapped[threads.EntityComment][r.CommentID]; ok && m.sharers[cloud] > 1 {
			m.collide[r.IssueID] = true
		}
	}
	for _, r := range m.Records {
		m.judge(r)
	}
	m.count()
	for issue, relations := range m.relation {
		var list []threads.Relation
		for comment, parent := range relations {
			list = append(list, threads.Relation{CommentID: comment, ParentID: parent})
		}
		m.Maps[issue] = threads.NewParentMap(list)
	}
	return m
}

func (m *Model) takeMappings(mappings []threads.IDMapping) {
	for _, i := range mappings {
		ids := m.mapped[i.EntityType]
		if ids == nil {
			continue
		}
		if _, again := ids[i.ServerID]; again {
			m.Preview.DuplicateMappings++
		}
		ids[i.ServerID] = i.CloudID
	}
	for _, cloud := range m.mapped[threads.EntityComment] {
		m.sharers[cloud]++
	}
	m.Preview.CommentMappings = int64(len(m.mapped[threads.EntityComment]))
	m.Preview.IssueMappings = int64(len(m.mapped[threads.EntityIssue]))
}

// onCycle reports whether a comment's parents lead back to it, through others.
func (m *Model) onCycle(r threads.Record) bool {
	if r.CommentID == r.ParentCommentID {
		return false
	}
	been := map[int64]bool{}
	for at := r.ParentCommentID; !been[at]; {
		been[at] = true
		if at == r.CommentID {
			return true
		}
		next, ok := m.last[at]
		if !ok {
			return false
		}
		at = next.ParentCommentID
	}
	return false
}

// onCloudCycle reports whether, within the record's issue and by cloud ids, the
// comment's parents lead back to it, through others. Where comments share a
// cloud id, that has several parents.
func (m *Model) onCloudCycle(r threads.Record) bool {
	edge := func(r threads.Record) (from, to int64, ok bool) {
		from, a := m.mapped[threads.EntityComment][r.CommentID]
		to, b := m.mapped[threads.EntityComment][r.ParentCommentID]
		return from, to, a && b && from != to
	}
	goal, at, ok := edge(r)
	if !ok || !m.collide[r.IssueID] { // those of large tests do not
		return false
	}
	been := map[int64]bool{at: true}
	for grown := true; grown && !been[goal]; {
		grown = false
		for _, other := range m.Records {
			from, to, ok := edge(other)
			if ok && other.IssueID == r.IssueID && been[from] && !been[to] {
				been[to], grown = true, true
			}
		}
	}
	return been[goal]
}

// judge returns the outcome of a record.
func (m *Model) judge(r threads.Record) {
	issue, issueOK := m.mapped[threads.EntityIssue][r.IssueID]
	comment, commentOK := m.mapped[threads.EntityComment][r.CommentID]
	parent, parentOK := m.mapped[threads.EntityComment][r.ParentCommentID]
	own, replies := m.last[r.ParentCommentID]
	away := replies && own.IssueID != r.IssueID
	self := r.CommentID == r.ParentCommentID || commentOK && parentOK && comment == parent
	cycle := m.onCycle(r) || m.onCloudCycle(r)
	for _, count := range []struct {
		is bool
		n  *int64
	}{{self, &m.Preview.SelfParents}, {cycle, &m.Preview.Cycles}, {away, &m.Preview.OtherIssue}} {
		if count.is {
			*count.n++
		}
	}
	for _, rule := range []struct {
		is     bool
		reason threads.Reason
	}{
		{!issueOK, threads.NoIssueMapping}, {!commentOK, threads.NoCommentMapping}, {!parentOK, threads.NoParentMapping},
		{self, threads.SelfParent}, {cycle, threads.Cycle}, {away, threads.OtherIssue}, {m.sharers[comment] > 1, threads.SameTarget},
	} {
		if rule.is {
			m.fail(r, rule.reason)
			return
		}
	}
	if m.relation[issue] == nil {
		m.relation[issue] = map[int64]int64{}
	}
	m.relation[issue][comment] = parent
}

// Cloud returns a record that is no error in the ids of the cloud.
func (m *Model) Cloud(r threads.Record) (issue int64, relation threads.Relation) {
	issues, comments := m.mapped[threads.EntityIssue], m.mapped[threads.EntityComment]
	return issues[r.IssueID], threads.Relation{CommentID: comments[r.CommentID], ParentID: comments[r.ParentCommentID]}
}

// Refuse takes the maps of cloud issues that a target refuses out of the model,
// and returns the reasons of all errors then.
func (m *Model) Refuse(issues map[int64]threads.Reason) map[threads.Record]threads.Reason {
	reasons := maps.Clone(m.Reasons)
	for _, r := range m.Records {
		issue := m.mapped[threads.EntityIssue][r.IssueID]
		if refused := issues[issue]; refused != "" && reasons[r] == "" {
			reasons[r] = refused
			delete(m.Maps, issue)
		}
	}
	return reasons
}

func (m *Model) fail(r threads.Record, reason threads.Reason) {
	m.Reasons[r] = reason
	m.Preview.Errors[reason]++
	m.Preview.TotalErrors++
}

func (m *Model) count() {
	p := &m.Preview
	issues, comments := map[int64]bool{}, map[int64]bool{}
	for _, r := range m.Records {
		issues[r.IssueID], comments[r.CommentID], comments[r.ParentCommentID] = true, true, true
	}
	p.Records, p.Issues, p.Comments = int64(len(m.Records)), int64(len(issues)), int64(len(comments))
	p.MissingIssues = missing(issues, m.mapped[threads.EntityIssue])
	p.MissingComments = missing(comments, m.mapped[threads.EntityComment])
}

func missing(named map[int64]bool, mapped map[int64]int64) threads.Missing {
	var ids []int64
	for id := range named {
		if _, ok := mapped[id]; !ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return threads.Missing{Count: int64(len(ids)), First: ids[:min(len(ids), threads.MaxListed)]}
}
