package threads

import (
	"bufio"
	"slices"
	"strconv"
)

// none is no place in a tree.
const none = int32(-1)

// Tree is the threads of an issue: every comment that its parent map names,
// once. It is built and written without recursion, in time that is linear but
// for sorting, since a thread can be as deep as an issue has comments.
type Tree struct {
	ids         []int64 // of the comments, in order; places are indexes
	parent      []int32 // none for one that starts a thread
	child, next []int32 // the first reply to it, the next one to its own parent
	first       int32   // the first thread
}

// NewTree makes the tree of a parent map. Where comments' parents lead back to
// them, which only a target that others write to can have, the lowest of them
// begins the thread.
func NewTree(m ParentMap) *Tree {
	t := &Tree{ids: make([]int64, 0, 2*len(m)), first: none}
	for _, r := range m {
		t.ids = append(t.ids, r.CommentID, r.ParentID)
	}
	slices.Sort(t.ids)
	t.ids = slices.Compact(t.ids)
	t.parent = slices.Repeat([]int32{none}, len(t.ids))
	for _, r := range m {
		t.parent[t.place(r.CommentID)] = t.place(r.ParentID)
	}
	t.cut()
	t.child, t.next = slices.Repeat([]int32{none}, len(t.ids)), slices.Repeat([]int32{none}, len(t.ids))
	for i := int32(len(t.ids)) - 1; i >= 0; i-- { // from the last, so that each list is in order
		list := &t.first
		if p := t.parent[i]; p != none {
			list = &t.child[p]
		}
		t.next[i], *list = *list, i
	}
	return t
}

func (t *Tree) place(id int64) int32 {
	i, _ := slices.BinarySearch(t.ids, id)
	return int32(i)
}

// cut makes the lowest comment of every cycle the beginning of a thread.
func (t *Tree) cut() {
	seen := make([]int32, len(t.ids)) // by which walk, counted from 1
	for start := range t.ids {
		i := int32(start)
		for i != none && seen[i] == 0 {
			seen[i] = int32(start) + 1
			i = t.parent[i]
		}
		if i == none || seen[i] != int32(start)+1 {
			continue // it ends, or joins what was walked before
		}
		lowest := i
		for j := t.parent[i]; j != i; j = t.parent[j] {
			lowest = min(lowest, j)
		}
		t.parent[lowest] = none
	}
}

// Write writes the threads as JSON, each as its comment and the replies to it.
func (t *Tree) Write(w *bufio.Writer) {
	_ = w.WriteByte('[') // a bufio.Writer keeps its error until Flush
	for i := t.first; i != none; {
		b := append(w.AvailableBuffer(), `{"commentId":"`...)
		b = append(strconv.AppendInt(b, t.ids[i], 10), `","replies":[`...)
		_, _ = w.Write(b)
		if t.child[i] != none {
			i = t.child[i]
			continue
		}
		_, _ = w.WriteString("]}")
		for t.next[i] == none && t.parent[i] != none {
			i = t.parent[i]
			_, _ = w.WriteString("]}")
		}
		if i = t.next[i]; i != none {
			_ = w.WriteByte(',')
		}
	}
	_ = w.WriteByte(']')
}

// TreeRow is a comment in a list of threads.
type TreeRow struct {
	ID, Parent int64 // no parent is 0
	Depth      int   // 0 for one that starts a thread
	Indent     int   // as far as it is shown
}

// Comments is how many comments the threads have.
func (t *Tree) Comments() int { return len(t.ids) }

// maxIndent is how deep a list shows threads.
const maxIndent = 12

// Rows lists the first comments, each below the one that it answers.
func (t *Tree) Rows(most int) []TreeRow {
	var list []TreeRow
	depth := 0
	for i := t.first; i != none && len(list) < most; {
		row := TreeRow{ID: t.ids[i], Depth: depth, Indent: min(depth, maxIndent)}
		if p := t.parent[i]; p != none {
			row.Parent = t.ids[p]
		}
		list = append(list, row)
		if t.child[i] != none {
			i, depth = t.child[i], depth+1
			continue
		}
		for t.next[i] == none && t.parent[i] != none {
			i, depth = t.parent[i], depth-1
		}
		i = t.next[i]
	}
	return list
}
