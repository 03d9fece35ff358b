package rest

import (
	"testing"

	"outrigger/internal/identity"
)

func TestStreamsAreLimited(t *testing.T) {
	var s Streams
	leaves := map[int64]func(){}
	for user := range int64(StreamsAtOnce) {
		leave, beyond := s.Enter(&identity.Principal{UserID: user})
		if beyond != NoStreamLimit {
			t.Fatalf("user %d: %d", user, beyond)
		}
		leaves[user] = leave
	}
	for _, who := range []*identity.Principal{{UserID: -1}, nil} {
		if _, beyond := s.Enter(who); beyond != StreamsOfServer {
			t.Errorf("one more of all: %d", beyond)
		}
	}
	for user := range int64(StreamsPerUser) {
		leaves[user]()
	}
	many := &identity.Principal{UserID: 20}
	for range StreamsPerUser - 1 { // has one already
		leave, beyond := s.Enter(many)
		if beyond != NoStreamLimit {
			t.Fatalf("%d", beyond)
		}
		defer leave()
	}
	if _, beyond := s.Enter(many); beyond != StreamsOfUser {
		t.Errorf("one more of a user: %d", beyond)
	}
	leave, beyond := s.Enter(nil)
	if beyond != NoStreamLimit || s.None() {
		t.Fatalf("beside that user: %d", beyond)
	}
	leave()
}
