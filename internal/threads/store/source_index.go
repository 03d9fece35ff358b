package store

import (
	"cmp"
	"slices"
	"sort"

	"outrigger/internal/threads"
)

const (
	// blockSize is how many records a block begins with: what an offset may
	// have to pass over after its key was found.
	blockSize = 1000
	// maxBlock is where a block is cut, so that one that fills up is not cut
	// for every record.
	maxBlock = 2 * blockSize
)

// key is a record's place in the export.
type key struct{ issue, comment int64 }

func keyOf(r threads.Record) key { return key{r.IssueID, r.CommentID} }

func (k key) compare(o key) int {
	if c := cmp.Compare(k.issue, o.issue); c != 0 {
		return c
	}
	return cmp.Compare(k.comment, o.comment)
}

// block is a stretch of the records: from its key to the next block's.
type block struct {
	first   key
	records int64
}

// index is the blocks in order. The first begins before every record. An index
// is never changed once others see it.
type index struct {
	generation int64
	blocks     []block
	before     []int64 // how many records stand before each block
}

func newIndex(generation int64, blocks []block) *index {
	x := &index{generation: generation, blocks: blocks, before: make([]int64, len(blocks))}
	var sum int64
	for i, b := range blocks {
		x.before[i] = sum
		sum += b.records
	}
	return x
}

// total is how many records there are.
func (x *index) total() int64 {
	last := len(x.blocks) - 1
	return x.before[last] + x.blocks[last].records
}

// seek finds the record at an offset: that many records after a key.
func (x *index) seek(offset int64) (from key, skip int64) {
	i := sort.Search(len(x.before), func(i int) bool { return x.before[i] > offset }) - 1
	return x.blocks[i].first, offset - x.before[i]
}

// blockOf is the place of the block that a record is in.
func blockOf(blocks []block, k key) int {
	return sort.Search(len(blocks), func(i int) bool { return blocks[i].first.compare(k) > 0 }) - 1
}

// recount returns the blocks after records have come and gone, and the places of
// those whose number is another.
func recount(old []block, came, gone []key) (blocks []block, touched []int) {
	blocks = slices.Clone(old)
	for _, k := range came {
		i := blockOf(blocks, k)
		blocks[i].records++
		touched = append(touched, i)
	}
	for _, k := range gone {
		i := blockOf(blocks, k)
		blocks[i].records--
		touched = append(touched, i)
	}
	slices.Sort(touched)
	return blocks, slices.Compact(touched)
}
