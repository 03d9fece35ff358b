package rest

import (
	"outrigger/internal/identity"
	"outrigger/internal/limit"
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
	all    limit.Concurrent[struct{}]
	ofUser limit.Concurrent[int64] // those of a user who is signed in, by the user's id
}

// Enter counts a new stream until leave, which is nil beyond a limit.
func (s *Streams) Enter(who *identity.Principal) (leave func(), beyond StreamLimit) {
	leaveAll, ok := s.all.Acquire(struct{}{}, StreamsAtOnce)
	switch {
	case !ok:
		return nil, StreamsOfServer
	case who == nil:
		return leaveAll, NoStreamLimit
	}
	leaveUser, ok := s.ofUser.Acquire(who.UserID, StreamsPerUser)
	if !ok {
		leaveAll()
		return nil, StreamsOfUser
	}
	return func() { leaveUser(); leaveAll() }, NoStreamLimit
}

// None reports whether there is no stream.
func (s *Streams) None() bool { return s.all.Idle() }
