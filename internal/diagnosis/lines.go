package diagnosis

import (
	"slices"
	"sync"
)

const (
	maxLines = 1000
	maxLine  = 4 << 10 // bytes of a line that are kept
)

// Lines keeps the last lines of a log in memory. Each call of Write is a line.
type Lines struct {
	mu   sync.Mutex
	list []string // a ring from next on, once it has maxLines
	next int
}

// Write keeps a line. It never fails.
func (l *Lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := string(line)
	if len(line) > maxLine {
		text = string(line[:maxLine]) + "…\n"
	}
	if len(l.list) < maxLines {
		l.list = append(l.list, text)
	} else {
		l.list[l.next] = text
		l.next = (l.next + 1) % maxLines
	}
	return len(line), nil
}

// All returns the lines that are kept, the oldest first; none if l is nil.
func (l *Lines) All() []string {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Concat(l.list[l.next:], l.list[:l.next])
}
