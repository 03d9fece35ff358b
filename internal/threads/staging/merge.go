package staging

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// cursor is where a merge is in one run.
type cursor struct {
	now     row
	columns int
	page    []byte
	run     run
	next    int64 // page
}

var errPage = errors.New("a page of a sorted run cannot be read")

// step moves on by a row; false at the end.
func (c *cursor) step(s *stage) (bool, error) {
	if len(c.page) == 0 {
		if c.next == c.run.pages {
			return false, nil
		}
		var err error
		if c.page, err = s.Store.ReadPage(s.ctx, c.run.number, c.next); err != nil {
			return false, fmt.Errorf("reading a sorted run: %w", err)
		}
		c.next++
		c.now = row{}
	}
	for i := range c.columns {
		difference, n := binary.Varint(c.page)
		if n <= 0 {
			return false, errPage
		}
		c.now[i] += difference
		c.page = c.page[n:]
	}
	return true, nil
}

// stream is rows in order. now is the row it is at; done that there is none.
type stream struct {
	now     row
	done    bool
	stage   *stage
	rows    []row     // of a sorter that is in memory
	cursors []*cursor // a heap, the lowest row first
	last    bool      // give of equal first numbers only the last
	dropped int64     // rows that last has passed over
}

// stream begins to give the rows.
func (t *sorter) stream() (*stream, error) {
	m := &stream{stage: t.stage, rows: t.rows}
	for _, r := range t.runs {
		c := &cursor{columns: t.columns, run: r}
		if ok, err := c.step(t.stage); err != nil {
			return nil, err
		} else if ok {
			m.cursors = append(m.cursors, c)
		}
	}
	for i := len(m.cursors)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m, m.next()
}

// lastOf begins to give, of rows with the same first number, the last.
func (t *sorter) lastOf() (*stream, error) {
	m, err := t.stream()
	if err != nil {
		return nil, err
	}
	m.last = true
	return m, m.skip()
}

// next moves on to the next row.
func (m *stream) next() error {
	if !m.last {
		return m.advance()
	}
	if err := m.advance(); err != nil {
		return err
	}
	return m.skip()
}

// skip moves on to the last row with this first number.
func (m *stream) skip() error {
	for !m.done {
		next, ok := m.peek()
		if !ok || next[0] != m.now[0] {
			return nil
		}
		m.dropped++
		if err := m.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (m *stream) peek() (row, bool) {
	if len(m.cursors) > 0 {
		return m.cursors[0].now, true
	}
	if len(m.rows) > 0 {
		return m.rows[0], true
	}
	return row{}, false
}

func (m *stream) advance() error {
	switch {
	case len(m.cursors) > 0:
		c := m.cursors[0]
		m.now = c.now
		ok, err := c.step(m.stage)
		if err != nil {
			return err
		}
		if !ok {
			end := len(m.cursors) - 1
			m.cursors[0], m.cursors = m.cursors[end], m.cursors[:end]
		}
		m.down(0)
	case len(m.rows) > 0:
		m.now, m.rows = m.rows[0], m.rows[1:]
	default:
		m.done = true
	}
	return nil
}

// down restores the heap below i.
func (m *stream) down(i int) {
	for {
		low := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.cursors); child++ {
			if compare(m.cursors[child].now, m.cursors[low].now) < 0 {
				low = child
			}
		}
		if low == i {
			return
		}
		m.cursors[i], m.cursors[low] = m.cursors[low], m.cursors[i]
		i = low
	}
}

// to moves on to the first row whose first number is at least key, and tells
// whether it is that key's.
func (m *stream) to(key int64) (bool, error) {
	for !m.done && m.now[0] < key {
		if err := m.next(); err != nil {
			return false, err
		}
	}
	return !m.done && m.now[0] == key, nil
}

// drain moves on to the end.
func (m *stream) drain() error { return m.each(func(row) error { return nil }) }

// each gives do the row it is at and all behind it.
func (m *stream) each(do func(row) error) error {
	for !m.done {
		if err := do(m.now); err != nil {
			return err
		}
		if err := m.next(); err != nil {
			return err
		}
	}
	return nil
}

// each gives do the rows in order.
func (t *sorter) each(do func(row) error) error {
	m, err := t.stream()
	if err != nil {
		return err
	}
	return m.each(do)
}

// turned sorts, for each row of another sorter, what turn makes of it.
func (t *sorter) turned(from *sorter, turn func(row) row) (*sorter, error) {
	err := from.each(func(r row) error { return t.add(turn(r)) })
	if err == nil {
		err = t.finish()
	}
	return t, err
}
