package rest

import (
	"sync"

	"outrigger/internal/identity"
)

const (
	// StreamsAtOnce is how many Streams there are at a time: more than are looked at
	// at once, and few enough to keep idle memory low.
	StreamsAtOnce = 200
	// StreamsPerUser leaves room for others when one person has many.
	StreamsPerUser = 10
)

// StreamLimit says which limit a stream is beyond.
type StreamLimit int

const (
	NoStreamLimit StreamLimit = iota
	StreamsOfServer
	StreamsOfUser
)

// Streams counts answers that go on for long. The zero value is ready.
type Streams struct {
	mu     sync.Mutex
	all    int
	ofUser map[int64]int // those of a user who is signed in, by the user's id
}

// Enter counts a new stream until leave, which is nil beyond a limit.
func (s *Streams) Enter(who *identity.Principal) (leave func(), beyond StreamLimit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.all >= StreamsAtOnce:
		return nil, StreamsOfServer
	case who != nil && s.ofUser[who.UserID] >= StreamsPerUser:
		return nil, StreamsOfUser
	}
	s.all++
	if who != nil {
		if s.ofUser == nil {
			s.ofUser = map[int64]int{}
		}
		s.ofUser[who.UserID]++
	}
	return func() { s.leave(who) }, NoStreamLimit
}

func (s *Streams) leave(who *identity.Principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if who != nil {
		if s.ofUser[who.UserID]--; s.ofUser[who.UserID] == 0 {
			delete(s.ofUser, who.UserID)
		}
	}
}

// None reports whether there is no stream.
func (s *Streams) None() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all == 0
}
