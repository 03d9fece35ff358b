package threads

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Relation says, in cloud ids, which comment another one answers.
type Relation struct {
	CommentID, ParentID int64
}

// ParentMap is the relations of one issue, by comment id, each comment once.
type ParentMap []Relation

// IssueMap is the parent map of one issue.
type IssueMap struct {
	CloudIssueID int64
	Parents      ParentMap
}

// NewParentMap orders relations; of the same comment twice, the last counts.
func NewParentMap(relations []Relation) ParentMap {
	byComment := func(a, b Relation) int { return cmp.Compare(a.CommentID, b.CommentID) }
	m := slices.Clone(relations)
	slices.SortStableFunc(m, byComment)
	n := 0
	for i, r := range m {
		if i+1 < len(m) && m[i+1].CommentID == r.CommentID {
			continue
		}
		m[n] = r
		n++
	}
	return m[:n]
}

// Merge returns the relations of both; where both name a comment, those of news
// count.
func (m ParentMap) Merge(news ParentMap) ParentMap {
	if len(m) == 0 {
		return news
	}
	out := make(ParentMap, 0, len(m)+len(news))
	for len(m) > 0 && len(news) > 0 {
		switch c := cmp.Compare(m[0].CommentID, news[0].CommentID); {
		case c < 0:
			out, m = append(out, m[0]), m[1:]
		case c > 0:
			out, news = append(out, news[0]), news[1:]
		default:
			m = m[1:]
		}
	}
	return append(append(out, m...), news...)
}

// Add is Merge without the relations of news that would close a cycle with what
// is there, or are their own parents: closing are their comments, for which
// those of m stay. What m has already is not new, and no reason to refuse it.
func (m ParentMap) Add(news ParentMap) (all ParentMap, closing []int64) {
	for {
		all = m.Merge(news)
		on := all.onCycles()
		if len(on) == 0 {
			slices.Sort(closing)
			return all, closing
		}
		var rest ParentMap
		for i, r := range news {
			old, ok := m.Parent(r.CommentID)
			if same := ok && old == r.ParentID; same || !on[r.CommentID] {
				if rest != nil {
					rest = append(rest, r)
				}
				continue
			}
			if rest == nil {
				rest = append(make(ParentMap, 0, len(news)), news[:i]...)
			}
			closing = append(closing, r.CommentID)
		}
		if rest == nil {
			slices.Sort(closing)
			return all, closing
		}
		news = rest // what m has comes back for them, and may close a cycle with others
	}
}

// onCycles returns the comments whose parents lead back to them.
func (m ParentMap) onCycles() map[int64]bool {
	const onPath, over = 1, 2
	var on map[int64]bool
	state := make([]uint8, len(m))
	for start := range m {
		i := start
		for i >= 0 && state[i] == 0 {
			state[i] = onPath
			i = m.place(m[i].ParentID)
		}
		if i >= 0 && state[i] == onPath {
			if on == nil {
				on = map[int64]bool{}
			}
			for at := i; !on[m[at].CommentID]; at = m.place(m[at].ParentID) {
				on[m[at].CommentID] = true
			}
		}
		for i = start; i >= 0 && state[i] == onPath; i = m.place(m[i].ParentID) {
			state[i] = over
		}
	}
	return on
}

// place is where a comment's relation is, -1 where it has none.
func (m ParentMap) place(comment int64) int {
	i, ok := slices.BinarySearchFunc(m, comment, func(r Relation, id int64) int { return cmp.Compare(r.CommentID, id) })
	if !ok {
		return -1
	}
	return i
}

// Parent returns the parent of a comment.
func (m ParentMap) Parent(comment int64) (int64, bool) {
	i := m.place(comment)
	if i < 0 {
		return 0, false
	}
	return m[i].ParentID, true
}

// AppendJSON writes the map as it is stored: {"11782":"11781"}.
func (m ParentMap) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, r := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendInt(b, r.CommentID, 10)
		b = append(b, `":"`...)
		b = strconv.AppendInt(b, r.ParentID, 10)
		b = append(b, '"')
	}
	return append(b, '}')
}

// ParseParentMap reads what AppendJSON wrote, also after others have ordered
// or spaced it in their own way.
func ParseParentMap(b []byte) (ParentMap, error) {
	if m, ok := parsePlain(b); ok {
		return m, nil
	}
	var texts map[string]json.Number
	if err := json.Unmarshal(b, &texts); err != nil {
		return nil, fmt.Errorf("reading a parent map: %w", err)
	}
	relations := make([]Relation, 0, len(texts))
	for comment, parent := range texts {
		r, err := relationOf(comment, parent.String())
		if err != nil {
			return nil, err
		}
		relations = append(relations, r)
	}
	return NewParentMap(relations), nil
}

func relationOf(comment, parent string) (r Relation, err error) {
	if r.CommentID, err = strconv.ParseInt(comment, 10, 64); err == nil {
		r.ParentID, err = strconv.ParseInt(parent, 10, 64)
	}
	if err != nil {
		return r, fmt.Errorf("reading a parent map: %w", err)
	}
	return r, nil
}

// parsePlain reads exactly what AppendJSON writes.
func parsePlain(b []byte) (ParentMap, bool) {
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return nil, false
	}
	b = b[1 : len(b)-1]
	if len(b) == 0 {
		return ParentMap{}, true
	}
	m := make(ParentMap, 0, len(b)/16)
	for {
		var r Relation
		var ok bool
		if r.CommentID, b, ok = quotedInt(b, ':'); !ok || len(b) == 0 {
			return nil, false
		}
		r.ParentID, b, ok = quotedInt(b, ',')
		if !ok || len(m) > 0 && m[len(m)-1].CommentID >= r.CommentID {
			return nil, false
		}
		if m = append(m, r); len(b) == 0 {
			return m, true
		}
	}
}

// quotedInt reads a number in quotes, and what follows it: after, or the end.
func quotedInt(b []byte, after byte) (v int64, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return 0, nil, false
	}
	end := slices.Index(b[1:min(len(b), 23)], '"') + 1
	if end <= 1 {
		return 0, nil, false
	}
	v, err := strconv.ParseInt(string(b[1:end]), 10, 64)
	rest = b[end+1:]
	switch {
	case err != nil:
		return 0, nil, false
	case len(rest) == 0:
		return v, rest, true
	case rest[0] != after || len(rest) == 1:
		return 0, nil, false
	}
	return v, rest[1:], true
}
