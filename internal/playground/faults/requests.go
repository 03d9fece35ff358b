package faults

import (
	"net/http"
	"strings"
	"sync"
)

// Requests are what a server was asked. The zero value is nothing.
type Requests struct {
	mu    sync.Mutex
	lines []string
}

// Note adds a request.
func (s *Requests) Note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, r.Method+" "+r.URL.RequestURI())
}

// Count counts the requests whose method and path contain a text.
func (s *Requests) Count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, line := range s.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}
