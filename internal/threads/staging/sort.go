package staging

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// row is what is sorted: by its first number, then by its second. rows.go says
// what the numbers mean; a sorter says how many there are.
type row [6]int64

func compare(a, b row) int {
	if a[0] != b[0] {
		return cmp.Compare(a[0], b[0])
	}
	return cmp.Compare(a[1], b[1])
}

const (
	// pageSize is about how long a page is: what a merge has in memory of each
	// run, so that hundreds of runs need few megabytes.
	pageSize = 128 << 10

	// pagesAtOnce is how many go into one transaction: 1 MiB.
	pagesAtOnce = 8

	// smallRun is how many rows stay in memory without a page: what most
	// sorts of exceptional records have.
	smallRun = 1 << 12
)

// sorter takes rows in any order and gives them in order, as often as asked.
// What does not fit into memory becomes a sorted run in the store.
type sorter struct {
	stage   *stage
	columns int
	rows    []row
	limit   int
	length  int64
	runs    []run
}

// run is a part that is sorted: pages in the store.
type run struct {
	number, pages int64
}

// newSorter makes a sorter of rows that use so many numbers. It works in the
// memory that the sorter before it has left.
func (s *stage) newSorter(columns int) *sorter {
	rows := s.spare
	s.spare = nil
	return &sorter{stage: s, columns: columns, rows: rows[:0], limit: s.Rows}
}

// smallSorter makes one that works beside another, with an eighth of the
// memory.
func (s *stage) smallSorter(columns int) *sorter {
	return &sorter{stage: s, columns: columns, limit: s.Rows/8 + 1}
}

func (t *sorter) add(r row) error {
	t.length++
	if t.rows = append(t.rows, r); len(t.rows) < t.limit {
		return nil
	}
	return t.spill()
}

// finish ends the adding.
func (t *sorter) finish() error {
	if len(t.rows) > smallRun || len(t.runs) > 0 && len(t.rows) > 0 {
		if err := t.spill(); err != nil {
			return err
		}
	}
	rows := t.rows
	t.rows = nil
	if len(t.runs) == 0 {
		slices.SortFunc(rows, compare)
		t.rows = slices.Clip(slices.Clone(rows))
	}
	if cap(rows) > cap(t.stage.spare) {
		t.stage.spare = rows[:0]
	}
	return nil
}

// spill makes a run of the rows in memory.
func (t *sorter) spill() error {
	slices.SortFunc(t.rows, compare)
	s := t.stage
	r := run{number: s.runs}
	s.runs++
	var pages [][]byte
	flush := func() error {
		if len(pages) == 0 {
			return nil
		}
		if err := s.Store.WritePages(s.ctx, r.number, r.pages, pages); err != nil {
			return fmt.Errorf("keeping a sorted run: %w", err)
		}
		r.pages += int64(len(pages))
		pages = pages[:0]
		return nil
	}
	for rest := t.rows; len(rest) > 0; {
		var page []byte
		page, rest = encodePage(rest, t.columns)
		if pages = append(pages, page); len(pages) == pagesAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	t.runs = append(t.runs, r)
	t.rows = t.rows[:0]
	return nil
}

// encodePage writes rows up to the length of a page, each number as its
// difference to the row before, and returns the rest.
func encodePage(rows []row, columns int) (page []byte, rest []row) {
	page = make([]byte, 0, pageSize+len(row{})*binary.MaxVarintLen64)
	var last row
	for i, r := range rows {
		if len(page) >= pageSize {
			return page, rows[i:]
		}
		for c := range columns {
			page = binary.AppendVarint(page, r[c]-last[c])
		}
		last = r
	}
	return page, nil
}
